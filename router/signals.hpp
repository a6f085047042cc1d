// The small measurements an endpoint's state is made of. Each solves one question of the pickers: how much waits and
// for how long, how slow is it, has it just failed, may it take one more request this second.
//
// Any thread may call anything here: every member is an atomic. What belongs together is either packed in one word or
// tolerates that two workers learn at the same moment and one sample is lost. No clock: `now` is an argument.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace brink::router {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// How many requests wait for their first byte, and since when on average. Count and sum of start times change in one
// atomic operation, because a reader that saw one without the other would compute ages of days.
class WaitSum {
 public:
  void add(Time start);     // at most 2^20 - 1 wait at once
  void remove(Time start);  // REQUIRES: the same start was added
  std::uint32_t load() const;
  Clock::duration mean_age(Time now) const;  // 0 when nothing waits; millisecond resolution

 private:
  std::atomic<std::uint64_t> packed_{0};  // low 20 bits: count; high 44 bits: sum of starts in ms, modulo 2^44
};

// What a unit of work costs at this endpoint, as the mean of logarithms: ratios matter, and the tails of answer lengths
// are heavy. Evidence counts samples, at most 20, and halves with every 10 s of silence, which gives the cold start,
// the steady gain of 1/20 and the second chance of an endpoint that nobody used for a while in one rule.
class LearnedCost {
 public:
  struct View {
    double log_cost = 0;  // natural logarithm of nanoseconds a unit
    double error = 0;     // standard error of log_cost, with a prior for few samples
    double evidence = 0;  // below 0.1: nothing known
  };
  void learn(Time now, double nanoseconds_per_unit);
  // A request that was given up after this much: the cost is at least that. Teaches only what is above the mean.
  void learn_at_least(Time now, double nanoseconds_per_unit);
  View view(Time now) const;

 private:
  double evidence_at(std::int64_t now) const;

  std::atomic<double> mean_{0};
  std::atomic<double> variance_{0};
  std::atomic<double> evidence_{0};
  std::atomic<std::int64_t> last_{0};  // nanoseconds of the steady clock
};

// Recent failures, as a factor on an endpoint's score: each failure doubles it (at most 256), a success takes its
// square root, and two seconds halve it. Without it the endpoint that fails at once would always look idle.
class Trouble {
 public:
  void failed(Time now);
  void succeeded(Time now);
  double factor(Time now) const;  // 1 when there was no failure lately

 private:
  double level(std::int64_t now) const;

  std::atomic<double> level_{0};
  std::atomic<std::int64_t> last_{0};
};

// A token bucket (generic cell rate algorithm, as in ATM's traffic management): `qps` requests a second, and bursts of
// a tenth of a second's worth, at least 1. A qps of 0 is no cap.
class RateGate {
 public:
  bool ready(Time now, double qps) const;
  bool take(Time now, double qps);  // false: no token

 private:
  std::atomic<std::int64_t> next_{0};  // when the bucket would be full again but for the burst
};

}  // namespace brink::router
