// Checks of texts that HTTP gives a form: names of hosts, header fields, methods, paths, and the addresses of the
// configuration. Pure functions, any thread.
//
// A check returns what is wrong as the rest of a sentence whose subject is the text ("must start with `/`"), or empty.
// It never repeats the text itself, which may hold a secret. It may bring the text to its canonical form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brink::conf {

std::string check_name(std::string& text);  // of a route or cluster: letters, digits, `.`, `_`, `-`; 64 at most
std::string check_not_empty(std::string& text);
std::string check_visible(std::string& text);             // 1 to 255 visible ASCII characters, no space
std::string check_path(std::string& text);                // a path of RFC 3986 section 3.3, absolute, no query
std::string check_host_pattern(std::string& text);        // `api.example.com`, `*.example.com`; lower-cased
std::string check_host(std::string& text);                // a Host field's value: `name` or `name:port`
std::string check_host_port(std::string& text);           // `name:port`; lower-cased
std::string check_method(std::string& text);              // RFC 9110 section 9.1
std::string check_model(std::string& text);               // 1 to 256 bytes
std::string check_header_name(std::string& text);         // a token, RFC 9110 section 5.1
std::string check_edited_header_name(std::string& text);  // a token that is not the proxy's own business
std::string check_header_value(std::string& text);        // RFC 9110 section 5.5
std::string check_network(std::string& text);  // `10.0.0.0/8`, `fd00::/8`; a bare address gets its full length
std::string check_log_file(std::string& text);
std::string check_cpus(std::string& text);  // `0-3,8`
std::string check_redis_url(std::string& text);

// Where a listener or an endpoint is.
struct Target {
  std::string host;  // IPv6 without brackets
  std::uint16_t port = 0;
  std::string path;  // of a Unix socket
};

std::string parse_address(std::string_view text,
                          Target& out);                     // `0.0.0.0:8080`, `[::]:8080`; numeric host, port 0 allowed
std::string parse_url(std::string_view text, Target& out);  // `http://host:port`, `unix:///path`

// What a Redis URL says besides who and where.
struct RedisUrl {
  enum class Scheme { redis, rediss, unix_ } scheme = Scheme::redis;
  std::uint32_t database = 0;
};

// `redis://[[user]:password@]host[:port][/database]`, `rediss://...` for TLS, `unix:///path`. User and password are
// percent-encoded as RFC 3986 section 3.2.1 says, so the first `@` ends them and the first `/` the port.
std::string parse_redis_url(std::string_view text, RedisUrl& out);

std::string lower(std::string_view text);  // ASCII only

}  // namespace brink::conf
