// One worker's part of the metrics. Only that worker writes, so an increment is a plain load, add and store on an
// atomic: no lock prefix, no line shared with another worker. The admin thread reads while it writes and sums over all
// shards.
//
// Rows (a route, an endpoint) lie in blocks that are made on first use and never move, so a reader needs no lock, and a
// row that a reload adds takes nothing from those that exist.
//
// Threads: every non-const method is the worker's; every const method may be called from any thread at any time. A
// reader may see a request in one number and not yet in the next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "proxy/http/exchange.hpp"
#include "proxy/observe/metric_names.hpp"

namespace brink::observe {

using router::Time;

// A number with one writer and any number of readers.
class Cell {
 public:
  void add(std::uint64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Upper bounds of the buckets, in milliseconds: from an answer out of memory to a long generation.
inline constexpr auto bucket_bounds_ms = std::to_array<std::uint32_t>(
    {1, 2, 5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 20'000, 60'000, 120'000, 300'000, 600'000});

struct Histogram {
  std::array<Cell, bucket_bounds_ms.size() + 1> buckets;  // each counts its own range; the last is what lies above all
  Cell sum_ns;
  void record(Time::duration value);  // a negative one counts as 0
};

// 0: nothing was sent to the client; 1..5: the first digit of the status.
inline constexpr std::size_t status_classes = 6;
inline constexpr std::size_t error_kinds = 0
#define BRINK_COUNT(kind, status, type, text) +1
    BRINK_ERROR_KINDS(BRINK_COUNT)
#undef BRINK_COUNT
    ;

// Why a request was tried again; the bits of conf::RetryConfig::On by number, then the resend on a fresh connection.
inline constexpr auto retry_reasons =
    std::to_array<std::string_view>({"connect", "reset", "timeout", "429", "500", "502", "503", "504", "stale"});
inline constexpr std::size_t stale_retry = retry_reasons.size() - 1;

inline constexpr std::size_t cache_results = static_cast<std::size_t>(http::CacheResult::bypass) + 1;

struct RouteRow {
  Cell started;
  std::array<Cell, status_classes> finished;
  std::array<Cell, error_kinds> errors;
  std::array<Cell, cache_results> cache;  // by what the cache did; none is not counted
  Histogram duration;                     // first byte of the request to the end of the exchange; tunnels do not count
  Histogram first_byte;                   // first byte of the request to the backend's head
  Cell bytes_in, bytes_out;
};

struct EndpointRow {
  std::array<Cell, status_classes> finished;
  Histogram first_byte;  // request wholly sent to the backend's head
  Cell connects, connect_failures, reuses;
};

inline constexpr std::uint32_t max_rows = 4096;
inline constexpr std::uint32_t no_route_row = 0;        // exchanges without a route
inline constexpr std::uint32_t other_route_row = 1;     // routes past max_rows
inline constexpr std::uint32_t other_endpoint_row = 0;  // endpoints past max_rows

// Rows by number, growing by blocks. A row that was never written reads as nullptr.
template <class Row>
class Rows {
 public:
  static constexpr std::uint32_t block_rows = 64;

  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    for (auto& block : blocks_) delete block.load(std::memory_order_relaxed);
  }

  Row& at(std::uint32_t row) {  // REQUIRES: row < max_rows
    Block* block = blocks_[row / block_rows].load(std::memory_order_relaxed);
    if (block == nullptr) block = add_block(row / block_rows);
    return (*block)[row % block_rows];
  }
  const Row* find(std::uint32_t row) const {
    const Block* block = blocks_[row / block_rows].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : &(*block)[row % block_rows];
  }

 private:
  using Block = std::array<Row, block_rows>;
  Block* add_block(std::uint32_t index) {
    auto* block = new Block{};
    blocks_[index].store(block, std::memory_order_release);
    return block;
  }
  std::array<std::atomic<Block*>, max_rows / block_rows> blocks_{};
};

class Shard {
 public:
  // Once for each exchange, as soon as its route is known: `route_row` is what Exchange::route_metrics holds from then
  // on.
  void started(std::uint32_t route_row);
  // Exactly once for each exchange, whether it found a route or not (then it counts under route "-").
  void finished(const http::Exchange& exchange, Time now);

  void connection_opened() { add(Counter::downstream_opened); }
  void connection_closed() { add(Counter::downstream_closed); }
  void upstream_connect(std::uint32_t endpoint_row, bool ok);
  void upstream_reuse(std::uint32_t endpoint_row);

  void retried(std::size_t reason) { retries_[reason].add(1); }  // index into retry_reasons

  void add(Counter counter, std::uint64_t n = 1) { counters_[static_cast<std::size_t>(counter)].add(n); }
  void set(Gauge gauge, std::uint64_t value) { gauges_[static_cast<std::size_t>(gauge)].set(value); }
  // `delta` may be negative; the gauge itself must not become so.
  void change(Gauge gauge, std::int64_t delta) {
    gauges_[static_cast<std::size_t>(gauge)].add(static_cast<std::uint64_t>(delta));
  }

  std::uint64_t get(Counter counter) const { return counters_[static_cast<std::size_t>(counter)].get(); }
  std::uint64_t retries(std::size_t reason) const { return retries_[reason].get(); }
  std::uint64_t get(Gauge gauge) const { return gauges_[static_cast<std::size_t>(gauge)].get(); }
  const RouteRow* route(std::uint32_t row) const { return routes_.find(row); }
  const EndpointRow* endpoint(std::uint32_t row) const { return endpoints_.find(row); }

 private:
  std::array<Cell, counter_count> counters_{};
  std::array<Cell, gauge_count> gauges_{};
  std::array<Cell, retry_reasons.size()> retries_{};
  Rows<RouteRow> routes_;
  Rows<EndpointRow> endpoints_;
};

}  // namespace brink::observe
