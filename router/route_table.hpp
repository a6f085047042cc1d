// Which route takes a request. Built once from a Config, then immutable: any thread may match.
// Precedence is the Gateway API's (HTTPRouteRule): host exact, then longest wildcard, then any; path exact, then
// longest prefix; then a method match; then more header matches; then a models match; then the order of the files. The
// first route in this order that matches in everything takes the request; a more specific host whose routes all refuse
// it does not hide the others. Methods and header values are compared exactly: GET does not include HEAD.
// docs/routing.md explains.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conf/config.hpp"

namespace brink::router {

// What matching needs of a request, without knowing how heads are stored. All views live for the call only.
struct RequestView {
  std::string_view host;  // lower case, without port
  std::string_view path;  // without query
  std::string_view method;
  const void* head = nullptr;  // passed to find_field
  std::optional<std::string_view> (*find_field)(const void* head, std::string_view name) = nullptr;
  enum class Model : std::uint8_t { unknown, absent, known } model_state = Model::unknown;
  std::string_view model;  // with Model::known
};

struct Match {
  enum class Kind : std::uint8_t {
    route,        // `route` takes it
    needs_model,  // the best candidate asks for the body's model: scan the body, then match again. `route` is that
                  // candidate, whose body limit applies until then
    not_found,    // no route has this host and path: 404
    method_not_allowed,  // routes have this host and path, none this method: 405, `allow` lists them
  } kind = Kind::not_found;
  const conf::RouteConfig* route = nullptr;
  std::uint32_t route_index = 0;  // into Config::routes
  std::string allow;              // "GET, POST", only with method_not_allowed
};

class RouteTable {
 public:
  explicit RouteTable(const conf::Config& config);  // REQUIRES: config outlives the table
  ~RouteTable();
  // Allocates only for `allow`.
  Match match(const RequestView& request) const;
  // For people: a line for each route, in the order of the files, with what match() made of it and why. Slow.
  std::vector<std::string> explain(const RequestView& request) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace brink::router
