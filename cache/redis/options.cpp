#include "cache/redis/options.hpp"

#include <sys/un.h>

#include <charconv>
#include <optional>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_nodes = 1'000;
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// RFC 3986 section 2.1. Nothing for a broken escape, or a NUL that a C library would take for the end.
std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex(text[i + 1]), low = hex(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

template <typename T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool plain_host(std::string_view host) {
  for (const char c : host) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!alphanumeric && c != '-' && c != '.' && c != '_' && c != ':') return false;
  }
  return !host.empty();
}

std::string read_database(std::string_view text, Options& options) {
  constexpr unsigned most = 65'535;
  if (!read_number(text, options.database) || options.database > most) {
    return "the database of a Redis URL is a number from 0 to 65535";
  }
  return {};
}

std::string read_user(std::string_view text, Options& options) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return "a Redis URL names a user without a password: user:password@";
  const auto user = percent_decode(text.substr(0, colon)), password = percent_decode(text.substr(colon + 1));
  if (!user || !password) return "user or password of a Redis URL hold a broken percent escape";
  if (password->empty()) return "the password of a Redis URL is empty";
  options.user = *user;
  options.password = *password;
  return {};
}

std::string read_unix(std::string_view rest, Options& options) {
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    const std::string_view query = rest.substr(question + 1);
    if (!query.starts_with("db=")) return "a unix:// URL knows the parameter db only: unix:///path?db=N";
    if (std::string wrong = read_database(query.substr(3), options); !wrong.empty()) return wrong;
    rest = rest.substr(0, question);
  }
  const auto path = percent_decode(rest);
  if (!path) return "the path of a unix:// URL holds a broken percent escape";
  if (!path->starts_with('/') || path->size() == 1) return "a unix:// URL needs an absolute path: unix:///path";
  options.nodes = {{*path, 0}};
  return {};
}

std::string read_host(std::string_view rest, Options& options) {
  if (rest.find_first_of("?#") != std::string_view::npos) return "a redis:// URL has no parameters";
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    if (std::string wrong = read_database(rest.substr(slash + 1), options); !wrong.empty()) return wrong;
  }
  Node node;
  if (std::string wrong = parse_node(rest.substr(0, slash), 6379, node); !wrong.empty()) return wrong;
  options.nodes = {node};
  return {};
}

std::string check_node(const Node& node) {
  if (node.host.empty()) return "a Redis node needs a host";
  if (!node.is_unix()) return {};
  if (node.host.size() > longest_path) {
    return "the path of a Unix socket is longer than " + std::to_string(longest_path) + " bytes: " + node.host;
  }
  return {};
}

}  // namespace

std::string Node::text() const {
  if (is_unix()) return host;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string parse_node(std::string_view text, std::uint16_t default_port, Node& node) {
  std::string_view host = text, port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return "an IPv6 address is written [address]:port";
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    has_port = !port.empty();
    if (has_port && port.front() != ':') return "an IPv6 address is written [address]:port";
    if (has_port) port.remove_prefix(1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (!plain_host(host)) return "\"" + std::string(host) + "\" is no host name or address of a Redis node";
  std::uint16_t number = default_port;
  if (has_port && (!read_number(port, number) || number == 0)) return "the port of a Redis node is from 1 to 65535";
  node = {std::string(host), number};
  return {};
}

std::string parse(std::string_view url, Options& options) {
  const std::size_t end = url.find("://");
  const std::string_view scheme = url.substr(0, end);
  if (end == std::string_view::npos || (scheme != "redis" && scheme != "rediss" && scheme != "unix")) {
    return "a Redis URL starts with redis://, rediss:// or unix://";
  }
  Options read = options;
  read.nodes.clear();
  read.user.clear();
  read.password.clear();
  read.database = 0;
  read.tls = scheme == "rediss";

  std::string_view rest = url.substr(end + 3);
  // A password may hold an unescaped slash or @: the last @ ends it. A path of a Unix socket has its own @ escaped.
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos && !rest.starts_with('/')) {
    if (std::string wrong = read_user(rest.substr(0, at), read); !wrong.empty()) return wrong;
    rest.remove_prefix(at + 1);
  }
  std::string wrong = scheme == "unix" ? read_unix(rest, read) : read_host(rest, read);
  if (wrong.empty()) options = std::move(read);
  return wrong;
}

std::string check(const Options& options) {
  if (options.nodes.empty()) return "Redis needs a URL";
  if (options.nodes.size() > most_nodes) return "more than 1000 Redis nodes";
  for (const Node& node : options.nodes) {
    if (std::string wrong = check_node(node); !wrong.empty()) return wrong;
    if (node.is_unix() && options.mode != Options::Mode::single) return "a Unix socket is one server, mode single";
    if (node.is_unix() && options.tls) return "no TLS over a Unix socket";
  }
  if (options.mode == Options::Mode::sentinel && options.master_name.empty()) {
    return "mode sentinel needs the name of the master";
  }
  if (options.mode == Options::Mode::cluster && options.database != 0) return "a Redis cluster has database 0 only";
  if (!options.user.empty() && options.password.empty()) return "a Redis user needs a password";
  if (options.timeout < 1ms || options.timeout > 60s) return "the timeout of Redis is from 1 ms to 60 s";
  if (options.connect_timeout < 1ms || options.connect_timeout > 60s) {
    return "the connect timeout of Redis is from 1 ms to 60 s";
  }
  constexpr std::size_t most = 1U << 30;  // the formatter counts in int
  if (options.max_in_flight == 0 || options.max_in_flight > 1'000'000)
    return "Redis: max in flight is from 1 to 1000000";
  if (options.max_queued_bytes == 0 || options.max_queued_bytes > most)
    return "Redis: queued bytes are from 1 to 1 GiB";
  if (options.max_reply_bytes == 0 || options.max_reply_bytes > most) return "Redis: reply bytes are from 1 to 1 GiB";
  return {};
}

}  // namespace brink::cache::redis
