#include "router/first_byte_times.hpp"

#include <algorithm>
#include <cmath>

namespace brink::router {
namespace {

constexpr double width = 1.15;
constexpr std::uint32_t most_samples = 1000;

}  // namespace

void FirstByteTimes::record(Clock::duration took) {
  const double milliseconds = std::chrono::duration<double, std::milli>(took).count();
  const double bucket = milliseconds > 1 ? std::ceil(std::log(milliseconds) / std::log(width)) : 0;
  ++counts_[std::min(static_cast<std::size_t>(bucket), buckets - 1)];
  if (++total_ < most_samples) return;
  total_ = 0;
  for (std::uint16_t& count : counts_) total_ += count /= 2;
}

std::optional<Clock::duration> FirstByteTimes::percentile(double share) const {
  if (total_ < least_samples) return std::nullopt;
  const double wanted = share * total_;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    seen += counts_[i];
    if (seen < wanted || seen == 0) continue;
    const std::chrono::duration<double, std::milli> upper(std::pow(width, static_cast<double>(i)));
    return std::chrono::duration_cast<Clock::duration>(upper);
  }
  return std::nullopt;
}

}  // namespace brink::router
