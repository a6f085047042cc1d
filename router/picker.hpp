// Picks the endpoint for a request. A picker is a worker's own (no locks) and may keep state between picks; what workers
// share is in EndpointState. Deterministic: time and randomness are arguments.
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
  std::uint64_t request_bytes = 0;           // of the body, as far as known
  std::span<const std::uint32_t> excluded;   // indices already tried for this request
};

class Picker {
 public:
  static constexpr int none = -1;
  virtual ~Picker() = default;
  // The index of the endpoint to use, or `none` when every endpoint is unhealthy, excluded, at its request limit or at its
  // QPS cap. Does not count the pick as in flight: the caller opens a Flight. (A QPS token is taken by the pick.)
  virtual int pick(const PickInput& input) = 0;
};

// REQUIRES: endpoints.size() == cluster.endpoints.size(), same order; both outlive the picker.
std::unique_ptr<Picker> make_picker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints,
                                    Random random, void* random_state);

}  // namespace brink::router
