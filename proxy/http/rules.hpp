// The small grammar every reader of HTTP/1.1 shares: tokens, values, comma lists, decimal numbers, host[:port], and
// which fields may be named by `Connection` or stand in a trailer section. One place, so that heads and trailers cannot
// disagree. Pure functions over views, callable from any thread; nothing allocates and nothing throws.
#pragma once

#include <array>
#include <boost/beast/http/field.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace brink::http {

namespace detail {

enum CharClass : std::uint8_t { token_char = 1, value_char = 2, target_char = 4, host_char = 8, hex_char = 16 };

constexpr std::array<std::uint8_t, 256> make_char_table() {
  std::array<std::uint8_t, 256> table{};
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  for (unsigned c = 0; c < 256; ++c) {
    const bool digit = c >= '0' && c <= '9';
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    unsigned kinds = 0;
    if (digit || upper || lower || marks.find(static_cast<char>(c)) != marks.npos) kinds |= token_char;
    if (c == '\t' || (c >= ' ' && c != 0x7f)) kinds |= value_char;
    if (c > ' ' && c < 0x7f && c != '#') kinds |= target_char;
    if (digit || upper || lower || c == '-' || c == '.' || c == '_' || c == '~') kinds |= host_char;
    if (digit || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f')) kinds |= hex_char;
    table[c] = static_cast<std::uint8_t>(kinds);
  }
  return table;
}

inline constexpr auto char_table = make_char_table();

constexpr bool is(char c, CharClass kind) { return (char_table[static_cast<unsigned char>(c)] & kind) != 0; }

constexpr bool all(std::string_view text, CharClass kind) {
  for (const char c : text) {
    if (!is(c, kind)) return false;
  }
  return true;
}

}  // namespace detail

// token = 1*tchar (RFC 9110 section 5.6.2).
constexpr bool is_token(std::string_view text) { return !text.empty() && detail::all(text, detail::token_char); }

// No control character but HTAB; bytes from 0x80 on are obs-text and allowed (RFC 9110 section 5.5).
constexpr bool is_field_value(std::string_view text) { return detail::all(text, detail::value_char); }

// ASCII letters only; no locale.
bool iequals(std::string_view a, std::string_view b);

// Without leading and trailing SP and HTAB.
std::string_view trim(std::string_view text);

// Cuts the next element off the front of a comma list (RFC 9110 section 5.6.1) and returns it trimmed; empty elements
// are returned too, so that a strict caller can refuse them. REQUIRES: called at least once, and again only while
// `more`.
struct ListCursor {
  std::string_view rest;
  bool more = true;
  std::string_view next();
};

// True if the comma list holds `token`, case-insensitively.
bool list_has(std::string_view list, std::string_view token);

// 1*DIGIT up to 2^63-1: peers that count in signed 64 bits read a larger one as another length.
std::optional<std::uint64_t> parse_length(std::string_view text);

// host [":" port] of RFC 3986 section 3.2 as it occurs in Host and in targets: no user information, a port of at most
// 65535, an IPv6 address in brackets, and of names only the characters that DNS names use (letters, digits, -._~).
struct Authority {
  std::string_view host;  // with brackets for IPv6
  int port = -1;          // -1: none given
};
std::optional<Authority> parse_authority(std::string_view text);

// May `Connection` name this field? Only fields for one hop may be: a peer that names Host, Authorization or
// X-Forwarded-For wants a proxy to strip what the next hop relies on (RFC 9110 section 7.6.1).
bool may_be_nominated(std::string_view name);

// Fields for one connection only, to be removed by an intermediary whether or not `Connection` names them
// (RFC 9110 section 7.6.1).
bool is_hop_by_hop(boost::beast::http::field id);

// May this field stand in a trailer section? Not what frames, routes, authenticates, modifies the request, controls the
// response or tells how to read the content (RFC 9110 section 6.5.1).
bool may_be_trailer(std::string_view name);

}  // namespace brink::http
