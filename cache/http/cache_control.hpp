// What Cache-Control says, RFC 9111 section 5.2, of requests and of responses, and who says it: a targeted field for
// caches like this one goes before Cache-Control (RFC 9213). Unknown directives are passed over, as the RFC wants; of a
// repeated one the first counts. An age that is not a plain number is 0, so that nothing counts as fresh on a
// misreading.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

struct ResponseDirectives {
  bool no_store = false;
  bool no_cache = false;    // without field names
  bool is_private = false;  // without field names
  bool is_public = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool targeted = false;  // said by a targeted field: Cache-Control and Expires do not count
  std::optional<Duration> max_age, s_maxage;
  std::optional<Duration> stale_while_revalidate, stale_if_error;  // RFC 5861
  std::vector<std::string> withheld;                               // fields that no-cache or private name, lower case
};

struct RequestDirectives {
  bool no_store = false;
  bool no_cache = false;
  bool only_if_cached = false;
  std::optional<Duration> max_age, min_fresh;
  std::optional<Duration> max_stale;  // Duration::max(): however stale
  std::optional<Duration> stale_if_error;
};

// The default list of targeted fields, the most specific first.
std::span<const std::string> default_targets();

// `targets`: names of targeted fields, most specific first. One that is empty or no Structured Fields dictionary is
// passed over (RFC 9213 section 2.2).
ResponseDirectives response_directives(Fields response, std::span<const std::string> targets);

// Pragma: no-cache counts where there is no Cache-Control (RFC 9111 section 5.4).
RequestDirectives request_directives(Fields request);

}  // namespace brink::cache::http
