#include "cache/http/fields.hpp"

#include <algorithm>

namespace brink::cache::http {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool contains(Fields fields, std::string_view name) { return first_value(fields, name).has_value(); }

std::optional<std::string_view> first_value(Fields fields, std::string_view name) {
  for (const Field& field : fields) {
    if (same_text(field.name, name)) return trim(field.value);
  }
  return std::nullopt;
}

bool is_repeated(Fields fields, std::string_view name) {
  return std::count_if(fields.begin(), fields.end(), [&](const Field& field) { return same_text(field.name, name); }) >
         1;
}

void for_each_member(std::string_view list, const std::function<void(std::string_view)>& visit) {
  std::size_t start = 0;
  bool quoted = false;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == list.size() || (list[at] == ',' && !quoted)) {
      const std::string_view member = trim(list.substr(start, at - start));
      if (!member.empty()) visit(member);
      start = at + 1;
    } else if (list[at] == '"') {
      quoted = !quoted;
    } else if (list[at] == '\\' && quoted && at + 1 < list.size()) {
      ++at;
    }
  }
}

void for_each_member(Fields fields, std::string_view name, const std::function<void(std::string_view)>& visit) {
  for (const Field& field : fields) {
    if (same_text(field.name, name)) for_each_member(field.value, visit);
  }
}

std::optional<Duration> parse_delta_seconds(std::string_view digits) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (digits.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = std::min(most, value * 10 + (c - '0'));
  }
  return std::chrono::seconds(value);
}

}  // namespace brink::cache::http
