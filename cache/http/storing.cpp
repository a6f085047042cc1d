#include "cache/http/storing.hpp"

#include <algorithm>
#include <array>

#include "cache/http/freshness.hpp"
#include "cache/http/stored_fields.hpp"
#include "cache/http/url.hpp"
#include "cache/http/vary.hpp"

namespace brink::cache::http {

namespace {

constexpr std::size_t most_vary_names = 32;
constexpr std::size_t most_tags = 1024;

// What must-understand asks for: statuses whose rules for caches are known here (section 5.2.2.3).
bool is_understood(unsigned status) {
  constexpr std::array<unsigned, 31> others = {200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307,
                                               308, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451,
                                               500, 501, 502, 503, 504, 505, 507, 508, 511};
  return (status >= 400 && status <= 417) || std::find(others.begin(), others.end(), status) != others.end();
}

// A part, or an answer to one client's precondition or range, is never the answer to another's request.
bool is_complete_answer(unsigned status) {
  return status >= 200 && status <= 599 && status != 206 && status != 304 && status != 412 && status != 416;
}

bool is_storable_method(const Request& request, const Response& response, const ResponseDirectives& directives) {
  if (request.method == "GET") return true;
  if (request.method != "POST" || response.status / 100 != 2) return false;
  const auto location = first_value(response.fields, "content-location");
  return location && has_explicit_lifetime(response, directives) &&
         resolve_same_origin(request.url, *location) == request.url;
}

const char* why_not(const Request& request, const Response& response, const ResponseDirectives& directives) {
  if (!is_storable_method(request, response, directives)) return "method";
  if (!is_complete_answer(response.status)) return "status";
  const bool understood = is_understood(response.status);
  if (directives.must_understand && !understood) return "must-understand";
  // must-understand is there to override the no-store beside it (section 5.2.2.3).
  if (directives.no_store && !directives.must_understand) return "no-store";
  if (directives.is_private) return "private";
  if (request_directives(request.fields).no_store) return "request no-store";
  const bool shareable = directives.is_public || directives.must_revalidate || directives.s_maxage;
  if (contains(request.fields, "authorization") && !shareable) return "authorization";
  if (!has_explicit_lifetime(response, directives) && !directives.is_public &&
      !is_heuristically_cacheable(response.status)) {
    return "no lifetime";
  }
  return nullptr;
}

bool may_be_stale(const Freshness& freshness) { return !freshness.must_revalidate && !freshness.always_validate; }

// Worth keeping: it can be used at once, or validated, or serve as a stale response.
bool is_of_use(const Freshness& freshness, bool validator) {
  if (validator) return true;
  if (freshness.always_validate) return false;
  if (freshness.ttl(freshness.response_time) > Duration{}) return true;
  return may_be_stale(freshness) && (freshness.lifetime > Duration{} || freshness.stale_while_revalidate > Duration{} ||
                                     freshness.stale_if_error > Duration{});
}

WallTime useful_until(const Freshness& freshness, bool validator, Duration keep_stale) {
  Duration stale_use = validator || may_be_stale(freshness) ? std::max(keep_stale, Duration{}) : Duration{};
  if (may_be_stale(freshness)) {
    stale_use = std::max({stale_use, freshness.stale_while_revalidate, freshness.stale_if_error});
  }
  return freshness.response_time + std::max(freshness.ttl(freshness.response_time), Duration{}) + stale_use;
}

}  // namespace

bool has_validator(unsigned status, Fields response) {
  return status / 100 == 2 && (!first_value(response, "etag").value_or("").empty() ||
                               !first_value(response, "last-modified").value_or("").empty());
}

Storing may_store(const Request& request, const Response& response, const StoreOptions& options) {
  Storing result;
  const auto refuse = [&](const char* reason) {
    result.reason = reason;
    return result;
  };
  result.directives = response_directives(response.fields, options.targets);
  if (const char* reason = why_not(request, response, result.directives)) return refuse(reason);
  auto vary = vary_names(response.fields);
  if (!vary) return refuse("vary *");
  if (vary->size() > most_vary_names) return refuse("too many vary names");
  result.tags = response_tags(response.fields);
  // A response that could not be purged by one of its tags is rather not kept at all.
  if (result.tags.size() > most_tags) return refuse("too many tags");
  ResponseDirectives directives = result.directives;
  if (!directives.stale_while_revalidate) directives.stale_while_revalidate = options.stale_while_revalidate;
  if (!directives.stale_if_error) directives.stale_if_error = options.stale_if_error;
  result.freshness = freshness_of(response, directives, options.heuristic_limit);
  if (options.default_lifetime > Duration{} && !has_explicit_lifetime(response, directives) &&
      is_heuristically_cacheable(response.status) && response.status < 400 &&
      !contains(response.fields, "set-cookie")) {
    result.freshness.lifetime = options.default_lifetime;
  }
  const bool validator = has_validator(response.status, response.fields);
  if (!is_of_use(result.freshness, validator)) return refuse("stale, without a validator");
  result.vary = *std::move(vary);
  result.useful_until = useful_until(result.freshness, validator, options.keep_stale);
  result.store = true;
  return result;
}

}  // namespace brink::cache::http
