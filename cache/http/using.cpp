#include "cache/http/using.hpp"

#include <algorithm>

#include "cache/http/cache_control.hpp"

namespace brink::cache::http {

namespace {

RequestDirectives directives_of(const Request& request, const UseOptions& options) {
  return options.heed_request ? request_directives(request.fields) : RequestDirectives{};
}

// For how long it has been stale. A soft purge makes it stale at once.
Duration staleness(const Entry& entry, WallTime now) { return std::max(-entry.freshness.ttl(now), Duration{}); }

bool is_fresh(const Entry& entry, WallTime now) {
  return !entry.soft_purged.load(std::memory_order_relaxed) && entry.freshness.ttl(now) > Duration{};
}

bool may_ever_be_stale(const Entry& entry) {
  return !entry.freshness.must_revalidate && !entry.freshness.always_validate;
}

// Section 5.2.1: the client wants a newer response than this one. max-stale stretches the age that it is content with.
bool is_refused_by_client(const RequestDirectives& directives, const Entry& entry, WallTime now) {
  if (directives.no_cache) return true;
  if (directives.max_age) {
    const Duration beyond_limit = entry.freshness.age(now) - *directives.max_age;
    const Duration allowed = directives.max_stale.value_or(Duration{});
    // An age of 0 asks for a validation, even within the second in which the response came.
    if (beyond_limit > allowed || (*directives.max_age == Duration{} && allowed == Duration{})) return true;
  }
  return directives.min_fresh && entry.freshness.ttl(now) < *directives.min_fresh;
}

}  // namespace

Decision without_entry(const Request& request, Forward why, const UseOptions& options) {
  if (request.method != "GET" && request.method != "HEAD") return {Use::bypass, Forward::method};
  // Only the origin can evaluate these (section 4.3.2).
  if (contains(request.fields, "if-match") || contains(request.fields, "if-unmodified-since")) {
    return {Use::bypass, Forward::bypass};
  }
  const RequestDirectives directives = directives_of(request, options);
  if (directives.no_store) return {Use::bypass, Forward::request};
  if (directives.only_if_cached) return {Use::refuse, Forward::none};
  return {Use::fetch, why};
}

Decision decide(const Request& request, const Entry& entry, WallTime now, const UseOptions& options) {
  const Decision otherwise = without_entry(request, Forward::stale, options);
  if (otherwise.use == Use::bypass) return otherwise;
  const RequestDirectives directives = directives_of(request, options);
  const auto validate = [&](Forward why) {
    return otherwise.use == Use::refuse ? otherwise : Decision{Use::validate, why};
  };
  const bool fresh = is_fresh(entry, now);
  if (is_refused_by_client(directives, entry, now)) return validate(fresh ? Forward::request : Forward::stale);
  if (entry.freshness.always_validate) return validate(Forward::stale);
  if (fresh) return {Use::serve, Forward::none};
  if (!may_ever_be_stale(entry)) return validate(Forward::stale);
  const Duration stale_for = staleness(entry, now);
  if (stale_for < entry.freshness.stale_while_revalidate) return {Use::serve_and_refresh, Forward::stale};
  if (directives.max_stale && stale_for <= *directives.max_stale &&
      !entry.soft_purged.load(std::memory_order_relaxed)) {
    return {Use::serve, Forward::none};
  }
  return validate(Forward::stale);
}

bool may_serve_on_error(const Request& request, const Entry& entry, unsigned status, WallTime now,
                        const UseOptions& options) {
  const bool failed = status == 0 || status == 500 || (status >= 502 && status <= 504);
  if (!failed || !may_ever_be_stale(entry)) return false;
  const RequestDirectives directives = directives_of(request, options);
  const Duration stale_for = staleness(entry, now);
  if (directives.stale_if_error && stale_for <= *directives.stale_if_error) return true;
  if (is_refused_by_client(directives, entry, now)) return false;
  return stale_for < entry.freshness.stale_if_error || (status == 0 && stale_for < options.serve_disconnected);
}

std::chrono::seconds age_to_send(const Entry& entry, WallTime now) {
  return std::chrono::floor<std::chrono::seconds>(entry.freshness.age(now));
}

}  // namespace brink::cache::http
