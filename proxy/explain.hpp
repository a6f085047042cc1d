// `brink explain`: says which route takes a request and why, without sending anything.
#pragma once

#include <string>
#include <vector>

#include "conf/config.hpp"

namespace brink {

struct ExplainRequest {
  std::string method;
  std::string url;                   // http://host[:port]/path?query, or a path alone
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
};

// Prints to standard output. The exit status: 0 a route takes it, 1 none does, 2 the request itself is malformed.
int explain(const conf::Config& config, const ExplainRequest& request);

}  // namespace brink
