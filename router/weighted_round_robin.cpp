#include "router/weighted_round_robin.hpp"

#include <algorithm>

namespace brink::router {
namespace {

// nginx takes weight / max_fails for each failure and gives 1 back a pick, in integers, so that a weight of 1 never
// shrinks. Scaled weights pick in the same order, and can: two failures take an endpoint to 0, a hundred picks bring it
// back. One that fails always is thus tried by about 2 % of an equal fleet's picks.
constexpr long scale = 100;
constexpr long failures_to_zero = 2;

}  // namespace

WeightedRoundRobin::WeightedRoundRobin(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints)
    : UsablePicker(cluster, endpoints), peers_(size()) {
  for (std::size_t i = 0; i < size(); ++i) {
    const long configured = weight(i);
    peers_[i] = {configured * scale, configured * scale, 0, configured, endpoint(i).failures.load()};
  }
}

void WeightedRoundRobin::note_failures() {
  for (std::size_t i = 0; i < size(); ++i) {
    Peer& peer = peers_[i];
    const std::uint64_t failures = endpoint(i).failures.load(std::memory_order_relaxed);
    const auto fresh = static_cast<long>(std::min<std::uint64_t>(failures - peer.failures_seen, failures_to_zero));
    peer.failures_seen = failures;
    peer.effective = std::max(0l, peer.effective - fresh * peer.weight / failures_to_zero);
  }
}

int WeightedRoundRobin::choose(const PickInput& input) {
  note_failures();
  long total = 0;
  int best = none;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!usable(i)) continue;
    Peer& peer = peers_[i];
    const auto share = static_cast<long>(static_cast<double>(peer.effective) * ramp(i, input.now));
    peer.current += share;
    total += share;
    if (peer.effective < peer.weight) peer.effective = std::min(peer.weight, peer.effective + peer.recovery);
    if (best == none || peer.current > peers_[static_cast<std::size_t>(best)].current) best = static_cast<int>(i);
  }
  if (best != none) peers_[static_cast<std::size_t>(best)].current -= total;
  return best;
}

}  // namespace brink::router
