#include "proxy/http/rules.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>

namespace brink::http {

using boost::beast::http::field;

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool istarts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

bool is_ipv6_literal(std::string_view text) {
  char copy[INET6_ADDRSTRLEN] = {};
  in6_addr address{};
  if (text.empty() || text.size() >= sizeof copy) return false;
  std::copy(text.begin(), text.end(), copy);
  return std::find(text.begin(), text.end(), '\0') == text.end() && inet_pton(AF_INET6, copy, &address) == 1;
}

std::optional<int> parse_port(std::string_view text) {
  int port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    port = port * 10 + (c - '0');
    if (port > 65535) return std::nullopt;
  }
  return text.empty() ? -1 : port;
}

}  // namespace

bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view ListCursor::next() {
  const auto comma = rest.find(',');
  const auto element = trim(rest.substr(0, comma));
  more = comma != rest.npos;
  rest = more ? rest.substr(comma + 1) : std::string_view{};
  return element;
}

bool list_has(std::string_view list, std::string_view token) {
  for (ListCursor cursor{list}; cursor.more;) {
    if (iequals(cursor.next(), token)) return true;
  }
  return false;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (max - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<Authority> parse_authority(std::string_view text) {
  constexpr std::size_t max_host = 255;  // RFC 3986 section 3.2.2
  std::size_t host_size = 0;
  if (!text.empty() && text.front() == '[') {
    const auto close = text.find(']');
    if (close == text.npos || !is_ipv6_literal(text.substr(1, close - 1))) return std::nullopt;
    host_size = close + 1;
  } else {
    while (host_size < text.size() && detail::is(text[host_size], detail::host_char)) ++host_size;
  }
  if (host_size == 0 || host_size > max_host) return std::nullopt;

  Authority result{text.substr(0, host_size), -1};
  if (host_size == text.size()) return result;
  if (text[host_size] != ':') return std::nullopt;
  const auto port = parse_port(text.substr(host_size + 1));
  if (!port) return std::nullopt;
  result.port = *port;
  return result;
}

bool may_be_nominated(std::string_view name) {
  switch (boost::beast::http::string_to_field(name)) {
    case field::authorization:
    case field::cache_control:
    case field::cookie:
    case field::host:
    case field::set_cookie:
    case field::via:
      return false;
    default:
      return !istarts_with(name, "content-") && !istarts_with(name, "x-forwarded-") && !iequals(name, "forwarded");
  }
}

bool is_hop_by_hop(field id) {
  switch (id) {
    case field::connection:
    case field::keep_alive:
    case field::proxy_connection:
    case field::te:
    case field::trailer:
    case field::transfer_encoding:
    case field::upgrade:
      return true;
    default:
      return false;
  }
}

bool may_be_trailer(std::string_view name) {
  if (istarts_with(name, "proxy-") || istarts_with(name, "x-forwarded-") || istarts_with(name, "if-")) return false;
  switch (boost::beast::http::string_to_field(name)) {
    // Framing and the connection.
    case field::connection:
    case field::content_length:
    case field::keep_alive:
    case field::te:
    case field::trailer:
    case field::transfer_encoding:
    case field::upgrade:
    // Routing.
    case field::forwarded:
    case field::host:
    case field::via:
    // Authentication and state.
    case field::authorization:
    case field::cookie:
    case field::set_cookie:
    case field::www_authenticate:
    // Request modifiers.
    case field::expect:
    case field::max_forwards:
    case field::pragma:
    case field::range:
    // Control of the response.
    case field::age:
    case field::cache_control:
    case field::date:
    case field::expires:
    case field::location:
    case field::retry_after:
    case field::vary:
    case field::warning:
    // How to read the content.
    case field::content_encoding:
    case field::content_range:
    case field::content_type:
      return false;
    default:
      return true;
  }
}

}  // namespace brink::http
