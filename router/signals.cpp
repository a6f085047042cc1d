#include "router/signals.hpp"

#include <algorithm>
#include <cmath>

namespace brink::router {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

constexpr unsigned count_bits = 20;
constexpr std::uint64_t count_mask = (1ull << count_bits) - 1;
constexpr std::uint64_t sum_mask = (1ull << (64 - count_bits)) - 1;

constexpr double most_evidence = 20;
constexpr double evidence_half_life = 10e9;  // ns
// Before samples tell: the logarithm of one request's cost has a standard deviation of 1, known as if from two samples.
constexpr double prior_variance = 1;
constexpr double prior_samples = 2;

constexpr double most_trouble = 8;         // 2^8 times the score
constexpr double trouble_per_level = 2e9;  // ns until a level is forgotten
constexpr double burst_seconds = 0.1;

std::int64_t nanoseconds(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::uint64_t milliseconds(Time time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

}  // namespace

void WaitSum::add(Time start) { packed_.fetch_add((milliseconds(start) << count_bits) + 1, relaxed); }

void WaitSum::remove(Time start) { packed_.fetch_sub((milliseconds(start) << count_bits) + 1, relaxed); }

std::uint32_t WaitSum::load() const { return static_cast<std::uint32_t>(packed_.load(relaxed) & count_mask); }

Clock::duration WaitSum::mean_age(Time now) const {
  const std::uint64_t packed = packed_.load(relaxed);
  const std::uint64_t count = packed & count_mask;
  if (count == 0) return {};
  const std::uint64_t total = (count * milliseconds(now) - (packed >> count_bits)) & sum_mask;
  // Workers keep the time coarsely: seen from one, another's request may start in the future.
  if (total > sum_mask / 2) return {};
  return std::chrono::milliseconds(total / count);
}

double LearnedCost::evidence_at(std::int64_t now) const {
  const double evidence = evidence_.load(relaxed);
  const auto silence = static_cast<double>(std::max<std::int64_t>(0, now - last_.load(relaxed)));
  return evidence > 0 ? evidence * std::exp2(-silence / evidence_half_life) : 0;
}

void LearnedCost::learn(Time now, double nanoseconds_per_unit) {
  const double sample = std::log(std::max(nanoseconds_per_unit, 1e-3));
  const double evidence = std::min(evidence_at(nanoseconds(now)), most_evidence - 1) + 1;
  const double gain = 1 / evidence;
  const double mean = mean_.load(relaxed);
  const double difference = sample - mean;
  mean_.store(mean + gain * difference, relaxed);
  // The first sample has nothing to differ from: gain is 1 and the variance becomes 0.
  variance_.store((1 - gain) * (variance_.load(relaxed) + gain * difference * difference), relaxed);
  evidence_.store(evidence, relaxed);
  last_.store(nanoseconds(now), relaxed);
}

void LearnedCost::learn_at_least(Time now, double nanoseconds_per_unit) {
  if (evidence_at(nanoseconds(now)) < 0.1) return;
  if (std::log(std::max(nanoseconds_per_unit, 1e-3)) > mean_.load(relaxed)) learn(now, nanoseconds_per_unit);
}

LearnedCost::View LearnedCost::view(Time now) const {
  const double evidence = evidence_at(nanoseconds(now));
  if (evidence < 1e-9) return {};
  const double variance =
      (variance_.load(relaxed) * evidence + prior_variance * prior_samples) / (evidence + prior_samples);
  return {mean_.load(relaxed), std::sqrt(variance / evidence), evidence};
}

double Trouble::level(std::int64_t now) const {
  const double level = level_.load(relaxed);
  if (level <= 0) return 0;
  const auto passed = static_cast<double>(std::max<std::int64_t>(0, now - last_.load(relaxed)));
  return std::max(0.0, level - passed / trouble_per_level);
}

void Trouble::failed(Time now) {
  const std::int64_t at = nanoseconds(now);
  const double raised = std::min(most_trouble, level(at) + 1);
  last_.store(at, relaxed);
  level_.store(raised, relaxed);
}

void Trouble::succeeded(Time now) {
  if (level_.load(relaxed) <= 0) return;
  const std::int64_t at = nanoseconds(now);
  const double halved = level(at) / 2;
  last_.store(at, relaxed);
  level_.store(halved < 0.05 ? 0 : halved, relaxed);
}

double Trouble::factor(Time now) const { return level_.load(relaxed) <= 0 ? 1 : std::exp2(level(nanoseconds(now))); }

bool RateGate::ready(Time now, double qps) const {
  if (qps <= 0) return true;
  const double ahead = static_cast<double>(next_.load(relaxed) - nanoseconds(now));
  return ahead <= (std::max(1.0, qps * burst_seconds) - 1) * 1e9 / qps;
}

bool RateGate::take(Time now, double qps) {
  if (qps <= 0) return true;
  const auto interval = static_cast<std::int64_t>(1e9 / qps);
  std::int64_t next = next_.load(relaxed);
  do {
    const double ahead = static_cast<double>(next - nanoseconds(now));
    if (ahead > (std::max(1.0, qps * burst_seconds) - 1) * 1e9 / qps) return false;
  } while (!next_.compare_exchange_weak(next, std::max(next, nanoseconds(now)) + interval, relaxed));
  return true;
}

}  // namespace brink::router
