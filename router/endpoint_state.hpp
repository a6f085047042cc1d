// What is known of one endpoint right now. Shared by all workers and by successive configurations (keyed by the
// endpoint's name), so every member is an atomic or constant, and every method may be called from any thread.
// No clock in here: `now` is an argument, of the steady clock.
//
// An endpoint's life of a request: dispatched, then a first byte at most once, then finished exactly once. Use
// `Flight`, which keeps that order and cannot forget the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "router/ejection.hpp"
#include "router/engine_report.hpp"
#include "router/signals.hpp"

namespace brink::router {

enum class Outcome {
  success,     // a complete answer that did the work (below 400, and 101 tunnels): the only one that teaches latency
  rejected,    // a complete 4xx answer: the endpoint lives, but how fast it says no teaches nothing
  overloaded,  // 429 or 503: others are better now, and it is not broken
  failure,     // connect failed, reset, timeout, other 5xx, broken framing
  cancelled,   // the client left, or the edge gave up for a reason of its own: no fault of the endpoint
};

// The work that stands between a new request and its first byte at an endpoint, at the speed of an ordinary one, in
// units of a request byte's prompt cost. docs/routing.md explains the sum.
struct Work {
  double own = 0;      // the request's prompt and a step
  double queue = 0;    // what has had no first byte
  double running = 0;  // what is being answered
  double sum() const { return own + queue + running; }
};

// One per endpoint in the process; pickers read it, flights write it. A cache line of its own: workers share it.
struct alignas(64) EndpointState {
  explicit EndpointState(std::string endpoint_name) : name(std::move(endpoint_name)) {}
  EndpointState(const EndpointState&) = delete;
  EndpointState& operator=(const EndpointState&) = delete;

  const std::string name;
  std::atomic<bool> healthy{true};          // the active health check's verdict; usable until it says otherwise
  std::atomic<std::uint32_t> weight{1};     // capacity by the configuration in force; pickers set it when they are made
  std::atomic<std::uint32_t> in_flight{0};  // dispatched, not finished; tunnels count
  std::atomic<std::uint64_t> in_flight_bytes{0};  // request bytes of these
  WaitSum waiting;                                // of these, the ones without a first byte; load() counts them
  std::atomic<std::uint64_t> waiting_bytes{0};    // request bytes of those

  LearnedCost cost;  // nanoseconds to the first byte for each unit of work, see work()
  Trouble trouble;
  RateGate rate;
  Ejection ejection;
  EngineReport report;                   // what the engine says of itself
  std::atomic<double> first_byte_ms{0};  // moving average of successes, gain 0.1, for people to read; 0: none yet

  // Totals since the state exists. requests = these outcomes + in_flight, except for a moment.
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> successes{0};
  std::atomic<std::uint64_t> rejections{0};
  std::atomic<std::uint64_t> failures{0};  // overloaded ones too
  std::atomic<std::uint64_t> cancellations{0};
  // Of the answers that told (`usage`).
  std::atomic<std::uint64_t> prompt_tokens{0};
  std::atomic<std::uint64_t> cached_tokens{0};  // of these, from the engine's prefix cache
  std::atomic<std::uint64_t> completion_tokens{0};

  Work work(std::uint64_t request_bytes) const;
};

// The tokens of one answer, as its `usage` counts them.
struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
};

// One request's claim on an endpoint, released on every path. Move-only; not thread-safe, it belongs to its worker.
class Flight {
 public:
  Flight() = default;
  Flight(EndpointState& endpoint, Time now, std::uint64_t request_bytes);  // REQUIRES: endpoint outlives the flight
  Flight(Flight&& other) noexcept;
  Flight& operator=(Flight&& other) noexcept;
  ~Flight();  // an unfinished flight ends as cancelled

  explicit operator bool() const { return endpoint_ != nullptr; }
  EndpointState* endpoint() const { return endpoint_; }  // stays set after finish
  // The response head arrived (any final status). `good`: its status is below 400, so the time may be learned now; else
  // a success teaches it at the end, which for a long stream is late.
  void first_byte(Time now, bool good = false);
  void usage(const Usage& tokens);         // at most once, before finish
  void finish(Time now, Outcome outcome);  // idempotent: the first call counts

 private:
  void leave_queue();
  void learn(Time first_byte);
  void count(Time now, Outcome outcome);

  EndpointState* endpoint_ = nullptr;
  Time start_{};
  Time first_byte_{};
  std::uint64_t bytes_ = 0;
  double work_ = 1;
  bool open_ = false;
  bool got_first_byte_ = false;
  bool learned_ = false;
  bool trial_ = false;
};

}  // namespace brink::router
