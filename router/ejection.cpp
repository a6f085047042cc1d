#include "router/ejection.hpp"

#include <algorithm>

namespace brink::router {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint32_t most_doublings = 20;
constexpr std::int64_t forgiven_after = 6;  // times the first ejection, in service

std::int64_t nanoseconds(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Clock::duration until(std::int64_t then, Time now) {
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, then - nanoseconds(now)));
}

}  // namespace

Ejection::Phase Ejection::phase(Time now) const {
  const std::int64_t out_until = until_.load(relaxed);
  if (out_until == 0) return Phase::in;
  return nanoseconds(now) < out_until ? Phase::out : Phase::trial;
}

bool Ejection::may_take(Time now) const {
  const Phase at = phase(now);
  return at == Phase::in || (at == Phase::trial && trials_.load(relaxed) == 0);
}

Clock::duration Ejection::left(Time now) const { return until(until_.load(relaxed), now); }

double Ejection::ramp(Time now, Clock::duration slow_start) const {
  const std::int64_t returned = returned_.load(relaxed);
  if (returned == 0 || slow_start.count() <= 0) return 1;
  const double passed = static_cast<double>(nanoseconds(now) - returned) / static_cast<double>(slow_start.count());
  return std::clamp(passed, least_ramp, 1.0);
}

bool Ejection::eject(Time now, Clock::duration first, Clock::duration most) {
  std::uint32_t times = times_.load(relaxed);
  const std::int64_t returned = returned_.load(relaxed);
  std::int64_t seen = until_.load(relaxed);
  if (seen > nanoseconds(now)) return false;
  if (seen == 0 && returned != 0) {
    const auto forgiven = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>((nanoseconds(now) - returned) / (forgiven_after * first.count()), 0, most_doublings));
    times -= std::min(times, forgiven);
  }
  const Clock::duration time = first > most / (1 << times) ? most : first * (1 << times);
  if (!until_.compare_exchange_strong(seen, nanoseconds(now) + time.count(), relaxed)) return false;
  times_.store(std::min(times + 1, most_doublings), relaxed);
  ejections_.fetch_add(1, relaxed);
  consecutive.store(0, relaxed);
  window.clear();
  return true;
}

bool Ejection::restore(Time now) {
  if (until_.exchange(0, relaxed) == 0) return false;
  came_back(now);
  return true;
}

void Ejection::came_back(Time now) {
  consecutive.store(0, relaxed);
  window.clear();
  returned_.store(nanoseconds(now), relaxed);
}

void Ejection::forgive() {
  until_.store(0, relaxed);
  returned_.store(0, relaxed);
  times_.store(0, relaxed);
}

void Ejection::pause(Time then) {
  const std::int64_t wanted = nanoseconds(then);
  std::int64_t seen = paused_until_.load(relaxed);
  while (seen < wanted && !paused_until_.compare_exchange_weak(seen, wanted, relaxed)) {
  }
}

Clock::duration Ejection::paused(Time now) const { return until(paused_until_.load(relaxed), now); }

}  // namespace brink::router
