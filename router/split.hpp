// Chooses a cluster by weight for routes that split traffic (canaries).
#pragma once

#include <cstdint>
#include <span>

#include "conf/config.hpp"

namespace brink::router {

// The index into `clusters`, by `random` (uniform 64 bits) over the weights. -1 when all weights are 0 or it is empty.
int choose_cluster(std::span<const conf::SplitConfig> clusters, std::uint64_t random);

}  // namespace brink::router
