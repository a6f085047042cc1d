#include "router/outliers.hpp"

#include <algorithm>
#include <cmath>

namespace brink::router {
namespace {

constexpr double least_evidence = 5;  // samples, as LearnedCost counts them
constexpr double significance = 2;    // standard errors

}  // namespace

std::optional<Outliers::Change> Outliers::first_byte(std::size_t index, Time now, bool good) const {
  return good ? restore(*endpoints_[index], now) : std::nullopt;
}

std::optional<Outliers::Change> Outliers::finished(std::size_t index, Time now, Outcome outcome) const {
  if (config_.max_ejected <= 0 || outcome == Outcome::cancelled || outcome == Outcome::overloaded) return std::nullopt;
  EndpointState& state = *endpoints_[index];
  Ejection& ejection = state.ejection;
  const bool failed = outcome == Outcome::failure;
  ejection.window.add(now, config_.window, failed ? 1 : 0, 1);
  if (!failed) {
    ejection.consecutive.store(0, std::memory_order_relaxed);
    if (outcome == Outcome::success && ejection.in_service() && is_slow(state, now)) {
      return eject(state, now, Reason::slow);
    }
    return restore(state, now);
  }
  const std::uint32_t in_a_row = ejection.consecutive.fetch_add(1, std::memory_order_relaxed) + 1;
  switch (ejection.phase(now)) {
    case Ejection::Phase::out:
      return std::nullopt;
    case Ejection::Phase::trial:
      return eject(state, now, Reason::trial_failed);
    case Ejection::Phase::in:
      break;
  }
  if (config_.consecutive_failures > 0 && in_a_row >= config_.consecutive_failures) {
    return eject(state, now, Reason::consecutive);
  }
  const ShareWindow::Sum sum = ejection.window.sum(now, config_.window);
  if (config_.failure_share > 0 && sum.total >= config_.min_requests &&
      sum.marked >= config_.failure_share * sum.total) {
    return eject(state, now, Reason::share);
  }
  return std::nullopt;
}

// Only from a trial: an answer to a request that was sent before the ejection proves nothing.
std::optional<Outliers::Change> Outliers::restore(EndpointState& state, Time now) const {
  if (state.ejection.phase(now) != Ejection::Phase::trial || !state.ejection.restore(now)) return std::nullopt;
  return Change{Reason::trial_passed, {}};
}

std::optional<Outliers::Change> Outliers::eject(EndpointState& state, Time now, Reason reason) const {
  if (!may_eject(state) || !state.ejection.eject(now, config_.eject_for, config_.max_eject_for)) return std::nullopt;
  return Change{reason, state.ejection.left(now)};
}

// Those on trial count as left out until they have passed.
bool Outliers::may_eject(const EndpointState& state) const {
  const auto others = std::count_if(endpoints_.begin(), endpoints_.end(), [&](const EndpointState* other) {
    return other != &state && !other->ejection.in_service();
  });
  return static_cast<double>(others + 1) <= config_.max_ejected * static_cast<double>(endpoints_.size()) + 1e-9;
}

// By what a unit of work costs, so that an endpoint with long prompts or a long queue does not look slow for these.
bool Outliers::is_slow(const EndpointState& state, Time now) const {
  if (config_.slow_factor <= 0) return false;
  const LearnedCost::View own = state.cost.view(now);
  if (own.evidence < least_evidence) return false;
  if (state.ejection.window.sum(now, config_.window).total < config_.min_requests) return false;
  std::vector<double> costs;
  for (const EndpointState* endpoint : endpoints_) {
    if (const auto view = endpoint->cost.view(now); view.evidence >= 0.1) costs.push_back(view.log_cost);
  }
  // Of an even number the faster of the two in the middle: of two endpoints the slow one is the slow one.
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>((costs.size() - 1) / 2);
  std::nth_element(costs.begin(), middle, costs.end());
  return own.log_cost - *middle - significance * own.error > std::log(config_.slow_factor);
}

std::string to_string(const Outliers::Change& change) {
  std::string why;
  switch (change.reason) {
    case Outliers::Reason::trial_passed:
      return "answers again";
    case Outliers::Reason::consecutive:
      why = "failed too often in a row";
      break;
    case Outliers::Reason::share:
      why = "failed too large a share of its requests";
      break;
    case Outliers::Reason::slow:
      why = "is far slower than the others";
      break;
    case Outliers::Reason::trial_failed:
      why = "failed on trial";
      break;
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(change.out_for).count();
  return why + "; left out for " + std::to_string(milliseconds) + " ms";
}

}  // namespace brink::router
