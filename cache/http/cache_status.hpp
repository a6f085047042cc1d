// The Cache-Status field, RFC 9211: what this cache did with a request. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cache/http/using.hpp"

namespace brink::cache::http {

struct CacheStatus {
  bool hit = false;                 // answered without waiting for a backend; `forward` is then of no account
  Forward forward = Forward::none;  // why the request went on
  unsigned forward_status = 0;      // what the backend answered, where it is not what the client gets; 0: the same
  std::optional<std::chrono::seconds> ttl;  // of the response that is sent; negative: stale for so long
  bool stored = false;                      // the response was stored
  bool collapsed = false;                   // the answer to another's request was used for this one
  std::string_view detail;                  // a few words; none: left out
};

// The token of RFC 9211 section 2.2; empty for none.
std::string_view forward_token(Forward forward);

// The member that goes at the end of the list: `brink; hit; ttl=30`. `name` is a token.
std::string format_cache_status(const CacheStatus& status, std::string_view name = "brink");

}  // namespace brink::cache::http
