#include "router/share_window.hpp"

#include <algorithm>

namespace brink::router {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr unsigned count_bits = 22;
constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << 20) - 1;

std::uint64_t time_of(std::uint64_t packed) { return packed >> (2 * count_bits); }

ShareWindow::Sum counts_of(std::uint64_t packed) {
  return {static_cast<std::uint32_t>(packed >> count_bits & count_mask),
          static_cast<std::uint32_t>(packed & count_mask)};
}

std::uint64_t pack(std::uint64_t time, std::uint64_t marked, std::uint64_t total) {
  return time << (2 * count_bits) | std::min(marked, count_mask) << count_bits | std::min(total, count_mask);
}

}  // namespace

std::uint64_t ShareWindow::tenth(Time now, Clock::duration window) {
  const auto width = std::max<Clock::rep>(1, window.count() / static_cast<Clock::rep>(buckets));
  // From 1: an unused counter has the time 0.
  return static_cast<std::uint64_t>(now.time_since_epoch().count() / width) + 1;
}

void ShareWindow::add(Time now, Clock::duration window, std::uint32_t marked, std::uint32_t total) {
  const std::uint64_t time = tenth(now, window);
  std::atomic<std::uint64_t>& bucket = buckets_[time % buckets];
  std::uint64_t seen = bucket.load(relaxed);
  for (;;) {
    const Sum counts = time_of(seen) == (time & time_mask) ? counts_of(seen) : Sum{};
    const std::uint64_t next =
        pack(time & time_mask, std::uint64_t{counts.marked} + marked, std::uint64_t{counts.total} + total);
    if (bucket.compare_exchange_weak(seen, next, relaxed)) return;
  }
}

ShareWindow::Sum ShareWindow::sum(Time now, Clock::duration window) const {
  const std::uint64_t time = tenth(now, window);
  Sum sum;
  for (std::uint64_t age = 0; age < buckets && age < time; ++age) {
    const std::uint64_t packed = buckets_[(time - age) % buckets].load(relaxed);
    if (time_of(packed) != ((time - age) & time_mask)) continue;
    sum.marked += counts_of(packed).marked;
    sum.total += counts_of(packed).total;
  }
  return sum;
}

ShareWindow::Sum ShareWindow::latest(Time now, Clock::duration window) const {
  const std::uint64_t time = tenth(now, window);
  const std::uint64_t packed = buckets_[time % buckets].load(relaxed);
  return time_of(packed) == (time & time_mask) ? counts_of(packed) : Sum{};
}

void ShareWindow::clear() {
  for (auto& bucket : buckets_) bucket.store(0, relaxed);
}

}  // namespace brink::router
