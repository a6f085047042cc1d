#include "cache/redis/breaker.hpp"

#include <algorithm>

namespace brink::cache::redis {

using std::chrono::milliseconds;

bool Breaker::would_allow(Time now) const { return !open_ || (!trial_ && now >= until_); }

bool Breaker::allow(Time now) {
  if (!would_allow(now)) return false;
  trial_ = open_;
  return true;
}

// While open, answers to commands sent earlier prove nothing: only the trial counts.
bool Breaker::success() {
  if (open_ && !trial_) return false;
  const bool changed = open_;
  *this = Breaker{};
  return changed;
}

bool Breaker::failure(Time now, double random) {
  if (open_ && !trial_) return false;
  if (!open_ && ++failures_ < failures_to_open) return false;
  const double spread = 0.8 + 0.4 * random;
  pause_ = milliseconds(static_cast<milliseconds::rep>(static_cast<double>(next_pause_.count()) * spread));
  next_pause_ = std::min(next_pause_ * 2, longest_pause);
  until_ = now + pause_;
  open_ = true;
  trial_ = false;
  return true;
}

void Breaker::hint(Time now) {
  if (open_) until_ = std::min(until_, now);
}

milliseconds reconnect_delay(int failures, double random) {
  if (failures <= 0) return {};
  constexpr int doublings = 6;  // 100 ms times 64 is more than the longest
  const auto delay = std::min<double>(100.0 * (1 << std::min(failures - 1, doublings)), 5'000);
  return milliseconds(static_cast<milliseconds::rep>(delay * (0.5 + 0.5 * random)));
}

}  // namespace brink::cache::redis
