#include "router/usable.hpp"

#include <algorithm>
#include <numeric>

namespace brink::router {

UsablePicker::UsablePicker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints)
    : cluster_(cluster), endpoints_(endpoints.begin(), endpoints.end()), usable_(endpoints.size()) {
  for (std::size_t i = 0; i < size(); ++i) endpoint(i).weight.store(std::max(1u, weight(i)));
}

void UsablePicker::find_usable(const PickInput& input) {
  constexpr auto relaxed = std::memory_order_relaxed;
  const bool panic = in_panic();
  const bool ejects = cluster_.outlier.max_ejected > 0;
  paused_.clear();
  const unsigned limit = cluster_.limits.per_endpoint_requests;
  for (std::size_t i = 0; i < size(); ++i) {
    const EndpointState& state = endpoint(i);
    const bool in = panic || (state.healthy.load(relaxed) && (!ejects || state.ejection.may_take(input.now)));
    usable_[i] = in && (limit == 0 || state.in_flight.load(relaxed) < limit) &&
                 state.rate.ready(input.now, cluster_.endpoints[i].max_qps);
  }
  for (const std::uint32_t index : input.excluded)
    if (index < size()) usable_[index] = 0;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (usable_[i] == 0 || endpoint(i).ejection.paused(input.now).count() == 0) continue;
    usable_[i] = 0;
    paused_.push_back(i);
  }
}

bool UsablePicker::in_panic() const {
  constexpr double rounding = 1e-9;
  const bool ejects = cluster_.outlier.max_ejected > 0;
  const auto in = std::count_if(endpoints_.begin(), endpoints_.end(), [&](const EndpointState* e) {
    return e->healthy.load(std::memory_order_relaxed) && (!ejects || e->ejection.in_service());
  });
  return static_cast<double>(in) < cluster_.panic_threshold * static_cast<double>(size()) - rounding;
}

bool UsablePicker::admit_paused() {
  for (const std::uint32_t index : paused_) usable_[index] = 1;
  const bool some = !paused_.empty();
  paused_.clear();
  return some;
}

bool UsablePicker::any(const PickInput& input, bool patient) {
  find_usable(input);
  return (!patient && !paused_.empty()) || std::find(usable_.begin(), usable_.end(), 1) != usable_.end();
}

int UsablePicker::pick(const PickInput& input) {
  find_usable(input);
  for (;;) {
    const int best = choose(input);
    if (best == none) {
      if (admit_paused()) continue;
      return none;
    }
    const auto index = static_cast<std::size_t>(best);
    if (endpoint(index).rate.take(input.now, cluster_.endpoints[index].max_qps)) return best;
    usable_[index] = 0;  // another worker took the last token in between
  }
}

Turns::Turns(const conf::ClusterConfig& cluster) : current_(cluster.endpoints.size()) {
  for (const conf::EndpointConfig& endpoint : cluster.endpoints) weight_.push_back(endpoint.weight);
}

int Turns::next(std::span<const std::uint32_t> members) {
  long total = 0;
  std::uint32_t best = members.front();
  for (const std::uint32_t index : members) {
    current_[index] += weight_[index];
    total += weight_[index];
    if (current_[index] > current_[best]) best = index;
  }
  current_[best] -= total;
  return static_cast<int>(best);
}

Least::Least(const conf::ClusterConfig& cluster) : turns_(cluster) { tied_.reserve(cluster.endpoints.size()); }

void Least::offer(std::uint32_t index, double value) {
  constexpr double rounding = 1e-9;
  if (!tied_.empty() && value > best_ * (1 + rounding)) return;
  if (tied_.empty() || value < best_ * (1 - rounding)) {
    tied_.clear();
    best_ = value;
  }
  tied_.push_back(index);
}

int Least::take() { return tied_.empty() ? Picker::none : turns_.next(tied_); }

void Least::skip_turns(std::uint64_t count) {
  std::vector<std::uint32_t> all(turns_.size());
  std::iota(all.begin(), all.end(), 0u);
  if (all.empty()) return;
  for (std::uint64_t i = 0; i < count % all.size(); ++i) turns_.next(all);
}

}  // namespace brink::router
