// What the simulator counts, and its Prometheus text under vLLM's names. Single-threaded.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/sim/engine.hpp"

namespace brink::sim {

class Histogram {
 public:
  static constexpr std::array<double, 16> bounds = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,
                                                    0.25,  0.5,   0.75, 1.0,  2.5,  5.0,  10.0, 40.0};

  void observe(double seconds);
  void render(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::array<std::uint64_t, bounds.size() + 1> counts_{};
  double sum_ = 0;
};

// Requests to the three generating endpoints. started = active + finished + aborted + rejected + faulted.
struct Counters {
  std::uint64_t started = 0;
  std::uint64_t finished = 0;         // answered in full
  std::uint64_t finished_length = 0;  // of these: ended by max_tokens
  std::uint64_t aborted = 0;          // the client left first
  std::uint64_t rejected = 0;         // refused: bad request, unknown model, full queue, too long
  std::uint64_t faulted = 0;          // ended by a fault that was asked for
  std::uint64_t slow_readers = 0;     // connections given up because the client did not read; their request is aborted
  std::uint64_t connections = 0;      // accepted
  std::uint64_t websockets = 0;       // upgraded
  Histogram time_to_first_token;
  Histogram time_per_output_token;
  Histogram queue_time;
  Histogram request_time;

  std::uint64_t active() const { return started - finished - aborted - rejected - faulted; }
};

// What is there now; survives a clearing of the counters.
struct Gauges {
  std::uint64_t open_connections = 0;
  std::uint64_t open_websockets = 0;
};

std::string metrics_text(const Engine& engine, const Counters& counters, std::string_view model);

}  // namespace brink::sim
