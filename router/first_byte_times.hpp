// How long an endpoint takes to its first byte, as a distribution: to know when an answer is late for this endpoint.
// Recent answers count more: after every 500 the older ones count half. Buckets are 15 % wide, so a percentile is at
// most that much too high. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "router/signals.hpp"

namespace brink::router {

class FirstByteTimes {
 public:
  static constexpr std::uint32_t least_samples = 20;  // below: nothing is known

  void record(Clock::duration took);
  std::optional<Clock::duration> percentile(double share) const;

 private:
  static constexpr std::size_t buckets = 100;  // from 1 ms to 17 minutes

  std::array<std::uint16_t, buckets> counts_{};
  std::uint32_t total_ = 0;
};

}  // namespace brink::router
