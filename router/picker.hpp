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
  std::uint64_t request_bytes = 0;            // of the body, as far as known
  std::span<const std::uint32_t> excluded{};  // indices already tried for this request
  std::span<const std::uint64_t> blocks{};    // names of the prompt's blocks, in order, each of all bytes up to its end
  std::uint64_t session = 0;                  // a hash of the session key; 0: none
};

// What a pick foresaw, term by term, so that it can be compared with what then happened. Nanoseconds.
struct Prediction {
  double first_byte = 0;           // until the first byte, all in all; 0: this picker foresees nothing
  double own = 0;                  // of it the request's own prompt
  double queue = 0;                // what waits there for its first byte
  double running = 0;              // what runs there
  double slot = 0;                 // until one of the engine's sequences is free
  double age = 0;                  // the age of what waits there, where that is more than the sum of the above
  double slowness = 1;             // factor within the above: this endpoint against the cluster's median
  double trouble = 1;              // factor for recent failures, and for an endpoint that has just returned
  std::uint64_t cached_bytes = 0;  // of the prompt, believed to be in the engine's prefix cache
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
  // Of the endpoint that the last pick returned.
  virtual Prediction prediction() const { return {}; }
};

// REQUIRES: endpoints.size() == cluster.endpoints.size(), same order; both outlive the picker. Sets the endpoints'
// weight.
std::unique_ptr<Picker> make_picker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints,
                                    Random random, void* random_state);

}  // namespace brink::router
