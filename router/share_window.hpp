// How many of the things that happened lately were marked: failures among requests, retries among requests. A ring of
// ten counters over a window; the oldest falls out whole. Any thread may call anything: each counter with its time is
// one atomic word. No clock: `now` is an argument.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "router/signals.hpp"

namespace brink::router {

class ShareWindow {
 public:
  struct Sum {
    std::uint32_t marked = 0;
    std::uint32_t total = 0;
  };
  // `window`: the same for every call, or what was counted before is partly forgotten. A counter holds 2^22 - 1.
  void add(Time now, Clock::duration window, std::uint32_t marked, std::uint32_t total);
  Sum sum(Time now, Clock::duration window) const;     // of the whole window
  Sum latest(Time now, Clock::duration window) const;  // of its last tenth, which has just begun or is nearly over
  void clear();

 private:
  static constexpr std::size_t buckets = 10;
  static std::uint64_t tenth(Time now, Clock::duration window);

  std::array<std::atomic<std::uint64_t>, buckets> buckets_{};  // from the top: 20 bits time, 22 marked, 22 total
};

}  // namespace brink::router
