// The part of syntax.hpp that concerns hosts, ports and networks.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "conf/syntax.hpp"
#include "conf/units.hpp"

namespace brink::conf {
namespace {

constexpr std::size_t longest_socket_path = 107;  // sockaddr_un::sun_path without its final zero

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

// RFC 1123 section 2.1, and the underscore that service discovery uses.
bool is_dns_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  std::string_view label;
  for (std::string_view rest = name;;) {
    const std::size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    const bool fine = std::all_of(label.begin(), label.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!fine) return false;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  // A last label of digits makes it an IPv4 address, which must then be a right one.
  return label.find_first_not_of("0123456789") != std::string_view::npos || is_ipv4(std::string(name));
}

std::string parse_port(std::string_view text, std::int64_t least, std::uint16_t& out) {
  const auto number = parse_integer(text);
  if (!number || *number < least || *number > 65535) {
    return "has no valid port; ports are " + std::to_string(least) + " to 65535";
  }
  out = static_cast<std::uint16_t>(*number);
  return {};
}

std::string check_socket_path(std::string_view path, const std::string& example) {
  if (!path.starts_with('/')) return "has no absolute path; write it as `" + example + "`";
  if (path.find('\0') != std::string_view::npos) return "has a zero byte in its path";
  if (path.size() > longest_socket_path) {
    return "has a path past " + std::to_string(longest_socket_path) + " bytes, the system's limit for sockets";
  }
  return {};
}

// `user:password` or `:password`, RFC 3986 section 3.2.1.
std::string check_userinfo(std::string_view text) {
  constexpr std::string_view others = "-._~!$&'()*+,;=:";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    const bool encoded = text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]);
    const bool plain = std::isalnum(static_cast<unsigned char>(text[i])) || others.find(text[i]) != others.npos;
    if (!encoded && !plain) {
      return "has a character in its user name or password that must be percent-encoded (`@` is `%40`, `/` is `%2F`)";
    }
  }
  if (text.find(':') == std::string_view::npos) return "has a user name without a password; write `user:password@`";
  return {};
}

// Splits `host`, `host:port`, `[v6]` and `[v6]:port`; `port` is empty where none is written.
bool split_host_port(std::string_view text, std::string& host, std::string_view& port, bool& has_port) {
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    if (!is_ipv6(host)) return false;
    end = close + 1 == text.size() ? std::string_view::npos : close + 1;
    if (end != std::string_view::npos && text[end] != ':') return false;
  } else {
    host = text.substr(0, end);
  }
  has_port = end != std::string_view::npos;
  port = has_port ? text.substr(end + 1) : std::string_view();
  return true;
}

}  // namespace

std::string check_host_pattern(std::string& text) {
  text = lower(text);
  if (text == "*") return "is not needed; leave `hosts` out to match any host";
  if (text.find('/') != std::string::npos) return "must be a host name only, without scheme or path";
  if (text.starts_with('[')) {
    const bool fine = text.ends_with(']') && is_ipv6(text.substr(1, text.size() - 2));
    return fine ? "" : "must be a host name without a port";
  }
  if (text.find(':') != std::string::npos) return "must be a host name without a port";
  const std::string_view name = text.starts_with("*.") ? std::string_view(text).substr(2) : std::string_view(text);
  if (!is_dns_name(name)) {
    return "is no valid host pattern; write `api.example.com` or `*.example.com` (`*.` first and only once)";
  }
  return {};
}

std::string check_host(std::string& text) {
  std::string host;
  std::string_view port;
  bool has_port = false;
  std::uint16_t number = 0;
  const bool fine = split_host_port(text, host, port, has_port) && (text.starts_with('[') || is_dns_name(host));
  if (!fine) return "is no valid host; write `name` or `name:port`";
  return has_port ? parse_port(port, 1, number) : "";
}

std::string check_host_port(std::string& text) {
  if (std::string wrong = check_host(text); !wrong.empty()) return wrong;
  if (text.find(':') == std::string::npos || text.ends_with(']')) return "has no port; write it as `host:port`";
  text = lower(text);
  return {};
}

std::string check_network(std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  std::array<unsigned char, 16> bytes{};
  const bool v4 = is_ipv4(address);
  if (inet_pton(v4 ? AF_INET : AF_INET6, address.c_str(), bytes.data()) != 1) {
    return "is no network; write it as `10.0.0.0/8` or `fd00::/8`";
  }
  const std::int64_t longest = v4 ? 32 : 128;
  if (slash == std::string::npos) {
    text += "/" + std::to_string(longest);
    return {};
  }
  const auto length = parse_integer(std::string_view(text).substr(slash + 1));
  if (!length || *length > longest) return "has no valid prefix length; it is 0 to " + std::to_string(longest);
  for (std::int64_t bit = *length; bit < longest; ++bit) {
    if ((bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8)) & 1) {
      return "has address bits past its prefix length; clear them, or lengthen the prefix";
    }
  }
  return {};
}

std::string parse_address(std::string_view text, Target& out) {
  std::string_view port;
  bool has_port = false;
  if (!split_host_port(text, out.host, port, has_port) || (!text.starts_with('[') && !is_ipv4(out.host))) {
    return "is no listening address; write a numeric address and a port, `0.0.0.0:8080` or `[::]:8080`";
  }
  if (!has_port) return "has no port; write it as `address:port` (0 lets the system choose)";
  return parse_port(port, 0, out.port);
}

std::string parse_url(std::string_view text, Target& out) {
  constexpr std::string_view http = "http://", unix_scheme = "unix://";
  if (text.starts_with("https://")) {
    return "needs TLS to a backend, which this version of Brink does not support yet; use `http://`";
  }
  if (text.starts_with(unix_scheme)) {
    out.path = text.substr(unix_scheme.size());
    return check_socket_path(out.path, "unix:///run/backend.sock");
  }
  if (!text.starts_with(http)) return "is no endpoint; write `http://host:port` or `unix:///path`";
  text.remove_prefix(http.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find('@') != std::string_view::npos) return "holds a user name, which is not supported; set a header";
  if (text.find_first_of("/?#") != std::string_view::npos) {
    return "must end after the port; a path is set by a route's `rewrite`";
  }
  std::string_view port;
  bool has_port = false;
  if (!split_host_port(text, out.host, port, has_port) || (!text.starts_with('[') && !is_dns_name(out.host))) {
    return "has no valid host; write `http://host:port` (IPv6 as `http://[::1]:8000`)";
  }
  out.host = lower(out.host);
  out.port = 80;
  return has_port ? parse_port(port, 1, out.port) : "";
}

std::string check_redis_url(std::string& text) {
  RedisUrl url;
  return parse_redis_url(text, url);
}

std::string parse_redis_url(std::string_view text, RedisUrl& out) {
  constexpr std::string_view redis = "redis://", rediss = "rediss://", unix_scheme = "unix://";
  if (text.starts_with(unix_scheme)) {
    out.scheme = RedisUrl::Scheme::unix_;
    return check_socket_path(text.substr(unix_scheme.size()), "unix:///run/redis.sock");
  }
  if (!text.starts_with(redis) && !text.starts_with(rediss)) {
    return "is no Redis URL; write `redis://host:port/database`, `rediss://` for TLS, or `unix:///path`";
  }
  const bool tls = text.starts_with(rediss);
  out.scheme = tls ? RedisUrl::Scheme::rediss : RedisUrl::Scheme::redis;
  text.remove_prefix(tls ? rediss.size() : redis.size());
  // Of the last `@`, so that one within a password is found and reported.
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    if (std::string wrong = check_userinfo(text.substr(0, at)); !wrong.empty()) return wrong;
    text.remove_prefix(at + 1);
  }
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view database = text.substr(slash + 1);
    const auto index = parse_integer(database);
    constexpr std::int64_t most = 1'000'000;
    if (!database.empty() && (!index || *index > most)) return "must end after the database, a number";
    out.database = static_cast<std::uint32_t>(index.value_or(0));
    text = text.substr(0, slash);
  }
  std::string host;
  std::string_view port;
  bool has_port = false;
  std::uint16_t number = 0;
  if (!split_host_port(text, host, port, has_port) || (!text.starts_with('[') && !is_dns_name(host))) {
    return "has no valid host; write `host:port` (IPv6 as `[::1]:6379`)";
  }
  return has_port ? parse_port(port, 1, number) : "";
}

}  // namespace brink::conf
