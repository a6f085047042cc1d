#include "router/picker.hpp"

#include "router/least_requests.hpp"
#include "router/score.hpp"
#include "router/weighted_round_robin.hpp"

namespace brink::router {

std::unique_ptr<Picker> make_picker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints,
                                    Random random, void* random_state) {
  switch (cluster.balance) {
    case conf::Balance::weighted_round_robin:
      return std::make_unique<WeightedRoundRobin>(cluster, endpoints);
    case conf::Balance::least_requests:
      return std::make_unique<LeastRequests>(cluster, endpoints, random(random_state));
    case conf::Balance::score:
    case conf::Balance::prefix_affinity:
      return std::make_unique<Score>(cluster, endpoints, random(random_state));
  }
  return nullptr;
}

}  // namespace brink::router
