// What a route's `rewrite` makes of a request's path and model, for the pipeline and for `brink explain`. Pure; any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "conf/config.hpp"
#include "proxy/upstream/dispatch.hpp"
#include "router/model_scanner.hpp"

namespace brink {

// The path that a request to this route goes on with, without the query. REQUIRES: the route takes `path`.
std::string rewritten_path(const conf::RouteConfig& route, std::string_view path);

// What is to happen to the body for the route's `rewrite.model`: nothing, unless `scanner` found a model in it. It may
// be nullptr.
upstream::BodyEdit model_edit(const conf::RouteConfig& route, const router::ModelScanner* scanner);

}  // namespace brink
