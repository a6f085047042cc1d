#include "cache/http/preconditions.hpp"

#include <algorithm>
#include <array>

#include "cache/http/dates.hpp"
#include "cache/http/storing.hpp"

namespace brink::cache::http {

namespace {

bool is_weak(std::string_view tag) { return tag.starts_with("W/") || tag.starts_with("w/"); }

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view other) { return same_text(other, name); });
}

bool matches_any(Fields request, const Entry& entry) {
  const std::string_view stored = first_value(entry.fields, "etag").value_or("");
  bool found = false;
  // Inside an entity-tag a backslash is a character like any other, so the list is not split as one of quoted strings.
  for (const Field& field : request) {
    if (!same_text(field.name, "if-none-match")) continue;
    std::size_t start = 0;
    bool quoted = false;
    for (std::size_t at = 0; at <= field.value.size(); ++at) {
      if (at < field.value.size() && field.value[at] == '"') quoted = !quoted;
      if (at < field.value.size() && (field.value[at] != ',' || quoted)) continue;
      const std::string_view tag = trim(field.value.substr(start, at - start));
      found = found || tag == "*" || (!stored.empty() && same_weakly(tag, stored));
      start = at + 1;
    }
  }
  return found;
}

}  // namespace

bool same_weakly(std::string_view a, std::string_view b) {
  return (is_weak(a) ? a.substr(2) : a) == (is_weak(b) ? b.substr(2) : b);
}

bool same_strongly(std::string_view a, std::string_view b) { return !a.empty() && !is_weak(a) && a == b; }

bool is_not_modified(const Request& request, const Entry& entry, WallTime now) {
  if ((request.method != "GET" && request.method != "HEAD") || entry.status != 200) return false;
  if (contains(request.fields, "if-none-match")) return matches_any(request.fields, entry);
  const auto condition = first_value(request.fields, "if-modified-since");
  if (!condition || is_repeated(request.fields, "if-modified-since")) return false;
  const auto since = parse_date(*condition, now);
  auto modified = first_value(entry.fields, "last-modified");
  if (!modified) modified = first_value(entry.fields, "date");
  const auto last = modified ? parse_date(*modified, now) : std::nullopt;
  return since && last && *last <= *since;
}

bool belongs_in_304(std::string_view name, const Entry& entry) {
  constexpr std::array<std::string_view, 9> of_the_body = {"content-length",   "content-type",  "content-encoding",
                                                           "content-language", "content-range", "content-md5",
                                                           "content-digest",   "accept-ranges", "transfer-encoding"};
  // Last-Modified is of use to a client that has no entity-tag to go by.
  if (same_text(name, "last-modified")) return entry.find("etag") == nullptr;
  return !is_one_of(name, of_the_body);
}

bool is_left_out_of_fill(std::string_view name) {
  constexpr std::array<std::string_view, 4> names = {"if-none-match", "if-modified-since", "range", "if-range"};
  return is_one_of(name, names);
}

std::vector<Field> validation_fields(const Entry& entry) {
  std::vector<Field> result;
  if (!has_validator(entry.status, entry.fields)) return result;
  const std::string_view tag = first_value(entry.fields, "etag").value_or("");
  const std::string_view modified = first_value(entry.fields, "last-modified").value_or("");
  if (!tag.empty()) result.push_back({"If-None-Match", tag});
  if (!modified.empty()) result.push_back({"If-Modified-Since", modified});
  return result;
}

}  // namespace brink::cache::http
