// The process's metrics: the list of label rows, one Shard a worker, and the numbers that belong to the process. Gives
// all of it as Prometheus text (exposition format 0.0.4).
//
// Threads: any, except that a Shard is its worker's. Nothing here waits for a worker or makes one wait: rows and shards
// are listed under a mutex that only start-up, reload and scrape take.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/observe/cache_numbers.hpp"
#include "proxy/observe/shard.hpp"
#include "router/endpoint_state.hpp"

namespace brink::observe {

// What a scrape reads besides the shards; the views live for the call only.
struct ScrapeInput {
  struct Endpoint {
    std::string_view cluster;
    const router::EndpointState* state = nullptr;
  };
  std::span<const Endpoint> endpoints{};  // those of the current configuration
  std::uint64_t access_log_dropped = 0;
  std::string_view version{};
  bool ready = false;
  CacheNumbers cache{};
};

using EndpointLabels = std::pair<std::string, std::string>;  // cluster, endpoint
class TextWriter;

class Metrics {
 public:
  Metrics();

  // One for each worker, at its start; lives as long as this object.
  Shard& add_shard();

  // The row of a label, the same for the same label for ever; new labels past max_rows share the row "(other)". A
  // removed route or endpoint keeps its row, so that its counts stay and a return goes on from them.
  std::uint32_t route_row(std::string_view route);
  std::uint32_t endpoint_row(std::string_view cluster, std::string_view endpoint);

  void reloaded(bool ok);                                // after each try to load a configuration, the first one too
  void set_config_generation(std::uint64_t generation);  // of the one in use

  std::string text(const ScrapeInput& input) const;
  // Requests finished on a route so far, all workers together; 0 for a name never registered.
  std::uint64_t route_requests(std::string_view route) const;
  // Requests finished so far by what the cache did for them, all routes and workers together; the first is always 0.
  std::array<std::uint64_t, cache_results> cache_requests() const;
  std::uint64_t total(Counter counter) const;  // all workers together

 private:
  void process_lines(TextWriter& out, const ScrapeInput& input) const;

  mutable std::mutex mutex_;  // guards what follows up to started_
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::string> routes_;
  std::map<std::string, std::uint32_t, std::less<>> route_rows_;
  std::vector<EndpointLabels> endpoints_;
  std::map<EndpointLabels, std::uint32_t> endpoint_rows_;

  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::atomic<std::uint64_t> reloads_ok_{0}, reloads_failed_{0}, generation_{0};
  std::atomic<std::int64_t> last_reload_ms_{0};  // since 1970; of the last successful one
};

}  // namespace brink::observe
