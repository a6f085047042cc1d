// Picks the endpoint for a request. A picker is a worker's own (no locks) and may keep state between picks; what
// workers share is in EndpointState. Deterministic: time and randomness are arguments. docs/routing.md says which one
// to use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "conf/config.hpp"
#include "router/endpoint_state.hpp"

namespace brink::router {

using Random = std::uint64_t (*)(void* state);  // a uniform 64-bit number; `state` is the caller's generator

struct PickInput {
  Time now{};
  std::uint64_t request_bytes = 0;          // of the body, as far as known
  std::span<const std::uint32_t> excluded;  // indices already tried for this request
};

class Picker {
 public:
  static constexpr int none = -1;
  virtual ~Picker() = default;
  // The index of the endpoint to use, or `none` when every endpoint that could be is excluded, at its request limit or
  // at its QPS cap. Unhealthy and ejected endpoints are not used while at least `panic_threshold` of the cluster is in
  // service; with less all are: a check that fails everywhere is more often wrong than right, and the few that are left
  // would drown. Endpoints that asked to be left alone are used when no other can be. Does not count the pick as in
  // flight: the caller opens a Flight at once. (A QPS token is taken by the pick.) Limits are exact for one worker;
  // workers that pick in the same microsecond may go one request each beyond per_endpoint_requests.
  virtual int pick(const PickInput& input) = 0;
  // Whether a pick would find one now; with `patient` one that did not ask to be left alone.
  virtual bool any(const PickInput& input, bool patient = false) = 0;
};

// REQUIRES: endpoints.size() == cluster.endpoints.size(), same order; both outlive the picker. Sets the endpoints'
// weight.
std::unique_ptr<Picker> make_picker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints,
                                    Random random, void* random_state);

}  // namespace brink::router
