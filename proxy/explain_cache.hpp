// The part of `brink explain` that is about the cache: what the route's policy is, and what it makes of one request.
#pragma once

#include <string>

#include "conf/config.hpp"
#include "proxy/http/head.hpp"

namespace brink {

// Prints lines as explain() does; nothing for a route without a cache. `path` and `body`: as they go to the backend,
// after rewrites; an empty body was not given.
void explain_cache(const conf::RouteConfig& route, const http::RequestHead& head, const std::string& path,
                   const std::string& body);

}  // namespace brink
