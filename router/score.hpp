// The endpoint where this request will see its first byte soonest, by a small model of an inference engine: what waits
// there, what runs there, how slow the endpoint has proved against the cluster's median, how long its queue has stood
// still, and whether it has just failed. The score is an expected time, so every term can be checked against what then
// happened. Formula and reasons: docs/routing.md. One worker's own.
#pragma once

#include "router/usable.hpp"

namespace brink::router {

class Score final : public UsablePicker {
 public:
  Score(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints, std::uint64_t random);
  Prediction prediction() const override { return prediction_; }

 protected:
  int choose(const PickInput& input) override;

 private:
  void refresh(Time now);
  Prediction expected(std::uint32_t index, const PickInput& input) const;

  Least least_;
  std::vector<double> slowness_;  // against the median endpoint; 1 when nothing significant is known
  std::vector<double> scratch_;
  double unit_cost_;  // nanoseconds for a unit of work at the median endpoint
  Time refreshed_{};
  Prediction prediction_;
};

}  // namespace brink::router
