// For how long a response is fresh and how old it already is: RFC 9111 section 4.2, RFC 5861. Any thread.
#pragma once

#include "cache/http/cache_control.hpp"
#include "cache/http/messages.hpp"

namespace brink::cache::http {

// RFC 9110 section 15.1: statuses whose responses may be kept on a guess, where nothing says for how long.
bool is_heuristically_cacheable(unsigned status);

// The response says for how long it is fresh: max-age, s-maxage, Expires, whatever their values.
bool has_explicit_lifetime(const Response& response, const ResponseDirectives& directives);

// What can be read from the response alone. A lifetime that cannot be told, or an Age that is no single number, is one
// of 0 s: Age is not guessed at (section 5.1 would ignore or cut it), for 4.2 prefers stale to wrong.
// `heuristic_limit`: the most that a guess may say; the guess is a tenth of the time since Last-Modified.
Freshness freshness_of(const Response& response, const ResponseDirectives& directives, Duration heuristic_limit);

}  // namespace brink::cache::http
