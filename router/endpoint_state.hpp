// What is known of one endpoint right now. Shared by all workers and by successive configurations (keyed by the
// endpoint's name), so every member is an atomic or constant, and every method may be called from any thread.
// No clock in here: `now` is an argument, nanoseconds of the steady clock.
//
// An endpoint's life of a request: on_dispatch, then on_first_byte at most once, then on_finish exactly once. Use
// `Flight`, which keeps that order and cannot forget the end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace brink::router {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

enum class Outcome {
  success,    // a complete answer below 500: the only one that teaches latency
  failure,    // connect failed, reset, timeout, 5xx, broken framing
  cancelled,  // the client left, or the edge gave up for a reason of its own: says nothing of the endpoint
};

// One per endpoint in the process; the picker reads it, flights write it. Grows by what the score needs.
struct EndpointState {
  explicit EndpointState(std::string endpoint_name) : name(std::move(endpoint_name)) {}
  EndpointState(const EndpointState&) = delete;
  EndpointState& operator=(const EndpointState&) = delete;

  const std::string name;
  std::atomic<bool> healthy{true};           // the active health check's verdict; usable until it says otherwise
  std::atomic<std::uint32_t> in_flight{0};   // dispatched, not finished; tunnels count
  std::atomic<std::uint32_t> waiting{0};     // of these, those without a first byte
  // (the router's author adds: sums of waiting work and of start times, learned slowness, QPS bucket, totals)
};

// One request's claim on an endpoint, released on every path. Move-only; not thread-safe, it belongs to its worker.
class Flight {
 public:
  Flight() = default;
  Flight(EndpointState& endpoint, Time now, std::uint64_t request_bytes);
  Flight(Flight&& other) noexcept;
  Flight& operator=(Flight&& other) noexcept;
  ~Flight();  // an unfinished flight ends as cancelled

  explicit operator bool() const { return endpoint_ != nullptr; }
  EndpointState* endpoint() const { return endpoint_; }
  void first_byte(Time now);                  // the response head arrived (any final status)
  void finish(Time now, Outcome outcome);     // idempotent: the first call counts

 private:
  EndpointState* endpoint_ = nullptr;
  Time start_{};
  std::uint64_t bytes_ = 0;
  bool got_first_byte_ = false;
};

}  // namespace brink::router
