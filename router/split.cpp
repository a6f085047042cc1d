#include "router/split.hpp"

namespace brink::router {

int choose_cluster(std::span<const conf::SplitConfig> clusters, std::uint64_t random) {
  std::uint64_t total = 0;
  for (const conf::SplitConfig& entry : clusters) total += entry.weight;
  if (total == 0) return -1;
  // The remainder favours small numbers by at most total / 2^64, which nobody can measure.
  std::uint64_t rest = random % total;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (rest < clusters[i].weight) return static_cast<int>(i);
    rest -= clusters[i].weight;
  }
  return -1;
}

}  // namespace brink::router
