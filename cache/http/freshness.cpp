#include "cache/http/freshness.hpp"

#include <algorithm>
#include <array>

#include "cache/http/dates.hpp"

namespace brink::cache::http {

namespace {

std::optional<DateTime> date_field(const Response& response, std::string_view name) {
  const auto text = first_value(response.fields, name);
  return text ? parse_date(*text, response.response_time) : std::nullopt;
}

// Section 4.2.3: without a date of its own a response is as old as its arrival.
DateTime date_of(const Response& response) {
  return date_field(response, "date").value_or(std::chrono::floor<std::chrono::seconds>(response.response_time));
}

// Nothing: there are Age fields that make no single number.
std::optional<Duration> age_field(const Response& response) {
  const auto text = first_value(response.fields, "age");
  if (!text) return Duration{};
  if (is_repeated(response.fields, "age")) return std::nullopt;
  return parse_delta_seconds(*text);
}

Duration guess(const Response& response, const ResponseDirectives& directives, Duration limit) {
  if (!is_heuristically_cacheable(response.status) && !directives.is_public) return {};
  // A cookie is meant for one client; without an explicit lifetime nobody has said that it may go to others.
  if (contains(response.fields, "set-cookie")) return {};
  const auto modified = date_field(response, "last-modified");
  if (!modified) return {};
  const Duration unchanged = date_of(response) - *modified;
  return std::clamp(unchanged / 10, Duration{}, std::max(limit, Duration{}));
}

// Section 4.2.1.
Duration lifetime(const Response& response, const ResponseDirectives& directives, Duration heuristic_limit) {
  if (directives.s_maxage) return *directives.s_maxage;
  if (directives.max_age) return *directives.max_age;
  if (!directives.targeted && contains(response.fields, "expires")) {
    const auto expires = date_field(response, "expires");
    if (!expires) return {};  // "0" and the like: it has expired (section 5.3)
    return std::max<Duration>(*expires - date_of(response), Duration{});
  }
  return guess(response, directives, heuristic_limit);
}

// Section 4.2.3. In whole seconds where Date is compared, for a Date has no more.
Duration initial_age(const Response& response, Duration age_value) {
  const Duration apparent = std::chrono::floor<std::chrono::seconds>(response.response_time) - date_of(response);
  const Duration delay = std::max(response.response_time - response.request_time, Duration{});
  return std::max(apparent, age_value + delay);
}

}  // namespace

bool is_heuristically_cacheable(unsigned status) {
  constexpr std::array<unsigned, 11> statuses = {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501};
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool has_explicit_lifetime(const Response& response, const ResponseDirectives& directives) {
  return directives.max_age || directives.s_maxage || (!directives.targeted && contains(response.fields, "expires"));
}

Freshness freshness_of(const Response& response, const ResponseDirectives& directives, Duration heuristic_limit) {
  Freshness result;
  const auto age = age_field(response);
  result.response_time = response.response_time;
  result.initial_age = initial_age(response, age.value_or(Duration{}));
  if (age) result.lifetime = lifetime(response, directives, heuristic_limit);
  result.stale_while_revalidate = directives.stale_while_revalidate.value_or(Duration{});
  result.stale_if_error = directives.stale_if_error.value_or(Duration{});
  // s-maxage implies proxy-revalidate (section 5.2.2.10).
  result.must_revalidate = directives.must_revalidate || directives.proxy_revalidate || directives.s_maxage.has_value();
  result.always_validate = directives.no_cache;
  return result;
}

}  // namespace brink::cache::http
