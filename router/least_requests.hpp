// The endpoint with the fewest requests in flight for its weight: (in flight + 1) / weight, times a factor that recent
// failures raise. Needs to learn nothing, so it suits short-lived clusters and requests whose cost nobody can guess.
// One worker's own.
#pragma once

#include "router/usable.hpp"

namespace brink::router {

class LeastRequests final : public UsablePicker {
 public:
  LeastRequests(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints, std::uint64_t random);

 protected:
  int choose(const PickInput& input) override;

 private:
  Least least_;
};

}  // namespace brink::router
