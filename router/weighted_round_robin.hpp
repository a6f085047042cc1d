// Smooth weighted round robin as nginx does it: shares follow the weights whatever the endpoints do, except that
// failures lower an endpoint's weight at once and every pick gives a little of it back. For backends that are alike and
// requests that cost alike. One worker's own.
#pragma once

#include "router/usable.hpp"

namespace brink::router {

class WeightedRoundRobin final : public UsablePicker {
 public:
  WeightedRoundRobin(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints);

 protected:
  int choose(const PickInput& input) override;

 private:
  struct Peer {
    long weight = 0;     // the configured one times `scale`
    long effective = 0;  // 0..weight
    long current = 0;
    long recovery = 0;  // of effective, each pick
    std::uint64_t failures_seen = 0;
  };
  void note_failures();

  std::vector<Peer> peers_;
};

}  // namespace brink::router
