#include "cache/http/cache_status.hpp"

#include <algorithm>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

namespace {

// An sf-token where the text can be one, else an sf-string; characters that a string cannot hold become '?'.
std::string token_or_string(std::string_view text) {
  const char first = lower(text.front());
  const bool token =
      (first == '*' || (first >= 'a' && first <= 'z')) &&
      std::all_of(text.begin(), text.end(), [](char c) { return is_token_char(c) || c == ':' || c == '/'; });
  if (token) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return result + '"';
}

}  // namespace

std::string_view forward_token(Forward forward) {
  switch (forward) {
    case Forward::bypass:
      return "bypass";
    case Forward::method:
      return "method";
    case Forward::uri_miss:
      return "uri-miss";
    case Forward::vary_miss:
      return "vary-miss";
    case Forward::request:
      return "request";
    case Forward::stale:
      return "stale";
    case Forward::partial:
      return "partial";
    case Forward::none:
      break;
  }
  return {};
}

std::string format_cache_status(const CacheStatus& status, std::string_view name) {
  std::string text(name);
  if (status.hit) {
    text += "; hit";
  } else if (status.forward != Forward::none) {
    text += "; fwd=";
    text += forward_token(status.forward);
    if (status.forward_status != 0) text += "; fwd-status=" + std::to_string(status.forward_status);
  }
  if (status.ttl) text += "; ttl=" + std::to_string(status.ttl->count());
  if (status.stored) text += "; stored";
  if (status.collapsed) text += "; collapsed";
  if (!status.detail.empty()) text += "; detail=" + token_or_string(status.detail);
  return text;
}

}  // namespace brink::cache::http
