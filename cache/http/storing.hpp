// May a shared cache keep this response, and what is known of it then: RFC 9111 section 3. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cache/http/cache_control.hpp"
#include "cache/http/messages.hpp"

namespace brink::cache::http {

struct StoreOptions {
  std::span<const std::string> targets = default_targets();  // targeted fields, RFC 9213; names in any case
  Duration heuristic_limit = std::chrono::hours(24);         // the most that a guessed lifetime may be
  // The lifetime of a success that says nothing of one and may be kept on a guess, in the place of the guess; 0: none.
  Duration default_lifetime{};
  // For responses that say nothing of it (RFC 5861); 0: none.
  Duration stale_while_revalidate{};
  Duration stale_if_error{};
  // How long a stale response is kept to be validated, or to answer while nothing answers behind the cache.
  Duration keep_stale = std::chrono::hours(1);
};

struct Storing {
  bool store = false;
  const char* reason = "";        // why not, a few words for a log or Cache-Status; "" where `store`
  ResponseDirectives directives;  // for stored_head()
  Freshness freshness;            // of a response that may be stored, as all below
  WallTime useful_until{};        // Entry::useful_until
  std::vector<std::string> vary;  // names for vary_key(); none: the URL alone selects the response
  std::vector<std::string> tags;
};

// The request is the one that was sent for the response. That the body comes to its end is for the caller to see to.
// A response to POST may be kept for later GETs of its URL when it says that it is that (RFC 9110 section 9.3.3).
Storing may_store(const Request& request, const Response& response, const StoreOptions& options = {});

// The response has an ETag or a Last-Modified, and a status for which a server answers conditional requests.
bool has_validator(unsigned status, Fields response);

}  // namespace brink::cache::http
