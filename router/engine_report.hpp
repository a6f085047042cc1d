// What an engine publishes of its own load. Written by whoever scrapes it, read by pickers; any thread. A reader may
// see numbers of two scrapes mixed, which is no worse than numbers half a second old.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "router/signals.hpp"

namespace brink::router {

struct EngineLoad {
  std::uint32_t running = 0;  // requests in the batch, of all edges
  std::uint32_t waiting = 0;  // requests not yet admitted
  double kv_use = -1;         // share of the KV cache in use, 0 to 1; below 0: the engine does not say
};

class EngineReport {
 public:
  void store(Time now, const EngineLoad& load) {
    running_.store(load.running, std::memory_order_relaxed);
    waiting_.store(load.waiting, std::memory_order_relaxed);
    kv_use_.store(load.kv_use, std::memory_order_relaxed);
    at_.store(now.time_since_epoch().count(), std::memory_order_release);
  }
  // Nothing when it was never scraped or longer ago than `max_age`.
  std::optional<EngineLoad> view(Time now, Clock::duration max_age = std::chrono::seconds(2)) const {
    const std::int64_t at = at_.load(std::memory_order_acquire);
    if (at == 0 || now.time_since_epoch().count() - at > max_age.count()) return std::nullopt;
    return EngineLoad{running_.load(std::memory_order_relaxed), waiting_.load(std::memory_order_relaxed),
                      kv_use_.load(std::memory_order_relaxed)};
  }
  Time scraped_at() const { return Time{Clock::duration{at_.load(std::memory_order_acquire)}}; }  // zero: never

 private:
  std::atomic<std::int64_t> at_{0};  // of the steady clock
  std::atomic<std::uint32_t> running_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<double> kv_use_{-1};
};

}  // namespace brink::router
