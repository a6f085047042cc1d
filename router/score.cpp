#include "router/score.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace brink::router {
namespace {

// Until anything is learned: an engine that reads 75 bytes of prompt (some 20 tokens) a millisecond.
constexpr double initial_unit_cost = 1e6 / 75;
// What is learned moves slowly; computing it for each pick would cost more than the pick.
constexpr auto refresh_interval = std::chrono::milliseconds(20);
// Differences below this factor are noise as often as not, and following noise makes an equal fleet worse.
const double dead_band = std::log(1.35);
constexpr double significance = 2;  // standard errors
constexpr double fastest = 1.0 / 16;
constexpr double slowest = 256;

// Trouble is no part of what is foreseen: it says how likely an answer is, not when it comes.
double rank(const Prediction& foreseen) { return foreseen.first_byte * foreseen.trouble; }

}  // namespace

Score::Score(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints, std::uint64_t random)
    : UsablePicker(cluster, endpoints), least_(cluster), slowness_(size(), 1.0), unit_cost_(initial_unit_cost) {
  least_.skip_turns(random);
  scratch_.reserve(size());
}

void Score::refresh(Time now) {
  if (refreshed_ != Time{} && now - refreshed_ < refresh_interval) return;
  refreshed_ = now;
  scratch_.clear();
  for (std::uint32_t i = 0; i < size(); ++i)
    if (const auto view = endpoint(i).cost.view(now); view.evidence >= 0.1) scratch_.push_back(view.log_cost);
  if (scratch_.empty()) return;
  // Of an even number the faster of the two in the middle: of two endpoints the slow one is the slow one.
  const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>((scratch_.size() - 1) / 2);
  std::nth_element(scratch_.begin(), middle, scratch_.end());
  const double median = *middle;
  unit_cost_ = std::exp(median);
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto view = endpoint(i).cost.view(now);
    const double difference = view.log_cost - median;
    const bool significant =
        view.evidence >= 0.1 && std::abs(difference) > std::max(dead_band, significance * view.error);
    slowness_[i] = significant ? std::clamp(std::exp(difference), fastest, slowest) : 1.0;
  }
}

Prediction Score::expected(std::uint32_t index, const PickInput& input) const {
  const EndpointState& state = endpoint(index);
  const Work work = state.work(input.request_bytes);
  const double unit = slowness_[index] * unit_cost_;
  Prediction result;
  result.own = unit * work.own;
  result.queue = unit * work.queue;
  result.running = unit * work.running;
  result.slowness = slowness_[index];
  // Whoever comes now will wait no less than those already waiting have on average, so a queue that stands still costs
  // its endpoint the traffic within a second or two. Halved, because answers differ in length: an age up to twice what
  // is expected is an ordinary queue with a long answer in it, and reacting to that made equal fleets 15 % slower.
  const double model = result.own + result.queue + result.running;
  const auto age = std::chrono::duration<double, std::nano>(state.waiting.mean_age(input.now)).count();
  result.age = std::max(0.0, age / 2 - model);
  result.trouble = state.trouble.factor(input.now) / ramp(index, input.now);
  result.first_byte = model + result.age;
  return result;
}

int Score::choose(const PickInput& input) {
  refresh(input.now);
  least_.start();
  for (std::uint32_t i = 0; i < size(); ++i)
    if (usable(i)) least_.offer(i, rank(expected(i, input)));
  const int best = least_.take();
  if (best != none) prediction_ = expected(static_cast<std::uint32_t>(best), input);
  return best;
}

}  // namespace brink::router
