#include "cache/http/ranges.hpp"

#include <algorithm>
#include <optional>

#include "cache/http/dates.hpp"
#include "cache/http/preconditions.hpp"

namespace brink::cache::http {

namespace {

constexpr std::uint64_t beyond = std::uint64_t{1} << 62;  // further than any body; what is more counts as this

std::optional<std::uint64_t> position(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value < beyond / 10 ? value * 10 + static_cast<std::uint64_t>(c - '0') : beyond;
  }
  return value;
}

// Section 13.1.5: the client's part is of this very response.
bool holds_if_range(Fields request, const Entry& entry, WallTime now) {
  const auto condition = first_value(request, "if-range");
  if (!condition) return true;
  if (condition->find('"') != std::string_view::npos) {
    return same_strongly(*condition, first_value(entry.fields, "etag").value_or(""));
  }
  const auto modified = parse_date(first_value(entry.fields, "last-modified").value_or(""), now);
  const auto date = parse_date(first_value(entry.fields, "date").value_or(""), now);
  // A response that was made in the second of its last change may have changed once more in it (section 8.8.2.2).
  return modified && date && *modified < *date && parse_date(*condition, now) == modified;
}

}  // namespace

Part requested_part(const Request& request, const Entry& entry, std::uint64_t length, WallTime now) {
  const auto field = first_value(request.fields, "range");
  if (!field || request.method != "GET" || entry.status != 200 || is_repeated(request.fields, "range")) return {};
  const std::size_t equals = field->find('=');
  if (equals == std::string_view::npos || !same_text(field->substr(0, equals), "bytes")) return {};
  const std::string_view range = trim(field->substr(equals + 1));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos || !holds_if_range(request.fields, entry, now)) return {};
  const auto first = position(range.substr(0, dash));
  const auto last = position(range.substr(dash + 1));
  if (dash == 0) {
    if (!last) return {};
    if (*last == 0 || length == 0) return {Part::Kind::unsatisfiable};
    return {Part::Kind::partial, length - std::min(*last, length), length - 1};
  }
  if (!first || (!last && dash + 1 < range.size()) || (last && *last < *first)) return {};
  if (*first >= length) return {Part::Kind::unsatisfiable};
  return {Part::Kind::partial, *first, std::min(last.value_or(beyond), length - 1)};
}

std::string content_range(const Part& part, std::uint64_t length) {
  const std::string range =
      part.kind == Part::Kind::unsatisfiable ? "*" : std::to_string(part.first) + "-" + std::to_string(part.last);
  return "bytes " + range + "/" + std::to_string(length);
}

}  // namespace brink::cache::http
