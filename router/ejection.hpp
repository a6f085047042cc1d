// Whether an endpoint is left out because of how it answered, and how it comes back: out for a time that grows, then on
// trial with one request at a time, then in service with a share that grows to its full one. And, apart from that,
// whether it asked to be left alone for a moment (Retry-After). Who decides is router/outliers; pickers ask.
//
// Part of EndpointState: any thread may call anything, every member is an atomic. No clock: `now` is an argument.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "router/share_window.hpp"

namespace brink::router {

class Ejection {
 public:
  enum class Phase : std::uint8_t { in, out, trial };
  static constexpr double least_ramp = 0.1;

  Phase phase(Time now) const;
  bool in_service() const { return until_.load(std::memory_order_relaxed) == 0; }
  // In service, or on trial with no request under way. Workers that ask in the same moment may send one trial each.
  bool may_take(Time now) const;
  Clock::duration left(Time now) const;  // of the time out; 0 if it is not out
  // What an endpoint that came back may take, from least_ramp to 1 of its share.
  double ramp(Time now, Clock::duration slow_start) const;
  std::uint64_t ejections() const { return ejections_.load(std::memory_order_relaxed); }

  // False: another thread was first. Out for `first`, doubled for each earlier time that is not forgiven, at most
  // `most`. One time is forgiven for each 6 x `first` in service.
  bool eject(Time now, Clock::duration first, Clock::duration most);
  bool restore(Time now);    // into service; false: it is there already
  void came_back(Time now);  // starts the ramp, for an endpoint that was away for another reason
  void forgive();            // in service at once, without ramp and history

  void trial_started() { trials_.fetch_add(1, std::memory_order_relaxed); }
  void trial_ended() { trials_.fetch_sub(1, std::memory_order_relaxed); }

  // Back-pressure.
  void pause(Time until);
  Clock::duration paused(Time now) const;  // for how long yet; 0: not

  // What outliers decides by.
  std::atomic<std::uint32_t> consecutive{0};  // failures
  ShareWindow window;                         // requests, failures marked

 private:
  std::atomic<std::int64_t> until_{0};     // ns; 0: in service; past: on trial
  std::atomic<std::int64_t> returned_{0};  // ns; 0: never was out
  std::atomic<std::int64_t> paused_until_{0};
  std::atomic<std::uint32_t> times_{0};   // out, less those forgiven
  std::atomic<std::uint32_t> trials_{0};  // requests under way that began on trial
  std::atomic<std::uint64_t> ejections_{0};
};

}  // namespace brink::router
