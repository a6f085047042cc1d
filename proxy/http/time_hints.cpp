#include "proxy/http/time_hints.hpp"

#include <algorithm>
#include <charconv>

#include "cache/http/dates.hpp"
#include "proxy/http/rules.hpp"

namespace brink::http {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds longest_wait{60'000};
constexpr std::int64_t most = 1'000'000'000;  // ms, 11 days: more is no limit

struct Number {
  double value;
  std::string_view rest;
};

// A decimal number without sign or exponent at the front of `text`.
std::optional<Number> number(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  return Number{value, {end, static_cast<std::size_t>(text.data() + text.size() - end)}};
}

std::optional<milliseconds> scaled(double value, double milliseconds_each) {
  const double result = value * milliseconds_each;
  if (!(result <= static_cast<double>(most))) return std::nullopt;
  return milliseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(result)));
}

// gRPC over HTTP/2: at most 8 digits and a unit.
std::optional<milliseconds> grpc_timeout(std::string_view text) {
  const auto parsed = number(text);
  if (!parsed || text.size() > 9 || parsed->rest.size() != 1 || text.find('.') != std::string_view::npos) return {};
  switch (parsed->rest.front()) {
    case 'H':
      return scaled(parsed->value, 3'600'000);
    case 'M':
      return scaled(parsed->value, 60'000);
    case 'S':
      return scaled(parsed->value, 1'000);
    case 'm':
      return scaled(parsed->value, 1);
    case 'u':
      return scaled(parsed->value, 1e-3);
    case 'n':
      return scaled(parsed->value, 1e-6);
    default:
      return {};
  }
}

std::optional<milliseconds> request_timeout(std::string_view text) {
  const auto parsed = number(text);
  if (!parsed) return {};
  if (parsed->rest.empty() || parsed->rest == "ms") return scaled(parsed->value, 1);
  if (parsed->rest == "s") return scaled(parsed->value, 1'000);
  if (parsed->rest == "m") return scaled(parsed->value, 60'000);
  return {};
}

std::optional<milliseconds> plain(std::string_view text, double milliseconds_each) {
  const auto parsed = number(text);
  if (!parsed || !parsed->rest.empty()) return {};
  return scaled(parsed->value, milliseconds_each);
}

std::optional<milliseconds> shorter(std::optional<milliseconds> one, std::optional<milliseconds> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

TimeHints time_hints(const RequestHead& head) {
  TimeHints hints;
  for (const Field& field : head.fields) {
    if (field.id != FieldId::unknown || field.name.size() < 12) continue;  // none of these is a registered field
    if (iequals(field.name, "grpc-timeout")) {
      hints.total = shorter(hints.total, grpc_timeout(field.value));
    } else if (iequals(field.name, "x-request-timeout")) {
      hints.total = shorter(hints.total, request_timeout(field.value));
    } else if (iequals(field.name, "x-stainless-timeout")) {
      hints.head = shorter(hints.head, plain(field.value, 1'000));
    }
  }
  return hints;
}

std::optional<milliseconds> retry_after(const ResponseHead& head, std::chrono::system_clock::time_point now) {
  std::optional<milliseconds> wait;
  if (const Field* field = head.find("retry-after-ms")) {
    if (const auto parsed = number(field->value); parsed && parsed->rest.empty()) {
      wait = milliseconds(static_cast<std::int64_t>(std::min(parsed->value, 1e9)));
    }
  }
  const Field* field = wait ? nullptr : head.find(FieldId::retry_after);
  if (field != nullptr) {
    if (const auto parsed = number(field->value); parsed && parsed->rest.empty()) {
      wait = milliseconds(static_cast<std::int64_t>(std::min(parsed->value * 1'000, 1e9)));
    } else if (const auto date = cache::http::parse_date(field->value, std::chrono::floor<milliseconds>(now))) {
      wait = std::chrono::duration_cast<milliseconds>(*date - now);
    }
  }
  if (!wait) return {};
  return std::clamp(*wait, milliseconds(0), longest_wait);
}

}  // namespace brink::http
