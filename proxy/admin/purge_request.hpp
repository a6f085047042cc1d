// The body of POST /cache/purge: what is to be purged, and how. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "cache/memory/purge.hpp"

namespace brink::admin {

struct PurgeRequest {
  cache::Purge what;
  bool soft = false;
  std::string problem;  // a sentence for the client; empty: the rest is set
};

// One of {"url":"…"} {"tag":"…"} {"route":"…"} {"model":"…"} {"all":true}, and optionally "soft". A URL is
// brought to the form that entries have (normal_purge_url). Everything else is a problem, members that are not known
// and such that come twice included.
PurgeRequest read_purge_request(std::string_view body);

// http://host[:port]/path?query as the cache names it; https stands for the same, since Brink sees requests after TLS
// has ended. Empty, and `problem` is set: it is no such URL.
std::string normal_purge_url(std::string_view url, std::string& problem);

}  // namespace brink::admin
