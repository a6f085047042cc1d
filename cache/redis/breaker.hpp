// Stops asking a server that keeps failing: closed, open for a while, then half-open with one trial. Decides only;
// `now` and randomness are arguments.
#pragma once

#include <chrono>

#include "cache/redis/result.hpp"

namespace brink::cache::redis {

class Breaker {
 public:
  static constexpr int failures_to_open = 5;  // one after the other
  static constexpr std::chrono::milliseconds first_pause{1'000};
  static constexpr std::chrono::milliseconds longest_pause{30'000};

  // Whether to ask now. In the half-open state the first true is the trial, until its outcome is told or it is
  // taken back.
  bool allow(Time now);
  bool would_allow(Time now) const;
  void take_back() { trial_ = false; }  // the command allowed last was not sent

  // Outcomes. `random` is from [0, 1): pauses are spread by up to a fifth, so that workers do not come back together.
  // True: the state changed, worth a line in the log.
  bool success();
  bool failure(Time now, double random);
  // The server has shown a sign of life: no need to wait for the end of the pause.
  void hint(Time now);

  bool open() const { return open_; }
  std::chrono::milliseconds pause() const { return pause_; }  // the one under way, or the last

 private:
  int failures_ = 0;
  bool open_ = false;   // half-open too
  bool trial_ = false;  // under way
  Time until_{};
  std::chrono::milliseconds next_pause_ = first_pause;
  std::chrono::milliseconds pause_{};
};

// The wait before the nth attempt to connect again: nothing at first, then 100 ms doubling to 5 s, spread by a half.
std::chrono::milliseconds reconnect_delay(int failures, double random);

}  // namespace brink::cache::redis
