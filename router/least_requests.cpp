#include "router/least_requests.hpp"

namespace brink::router {

LeastRequests::LeastRequests(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints,
                             std::uint64_t random)
    : UsablePicker(cluster, endpoints), least_(cluster) {
  least_.skip_turns(random);
}

int LeastRequests::choose(const PickInput& input) {
  least_.start();
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (!usable(i)) continue;
    const double requests = endpoint(i).in_flight.load(std::memory_order_relaxed) + 1.0;
    least_.offer(i, requests / weight(i) * endpoint(i).trouble.factor(input.now) / ramp(i, input.now));
  }
  return least_.take();
}

}  // namespace brink::router
