// What a run amounted to, in the numbers that users ask for.
#pragma once

#include <vector>

#include "tests/sim/fleet/simulation.hpp"

namespace brink::fleet {

// Times in ms. Lost requests count with the time they waited, so losing them never looks fast.
struct Summary {
  double ttft_p50 = 0, ttft_p90 = 0, ttft_p99 = 0;
  double total_p50 = 0, total_p90 = 0, total_p99 = 0;
  double p90_deviation = 0;  // standard deviation over windows of 10 s of the P90 of time to first token
  double p90_range = 0;      // largest less smallest of those
  double goodput = 0;        // share answered with a first token within the SLO
  double lost = 0;           // share
  double imbalance = 1;      // the busiest engine's time over the mean
  double hit_share = 0;      // prefix blocks
};

// The q-quantile (0 to 1) of the values, by the nearest rank; 0 when there are none.
double quantile(std::vector<double> values, double q);
// The P90 of time to first token, ms, for each 10 s in which at least 20 requests arrived.
std::vector<double> p90_by_window(const Result& result);
// REQUIRES: slo_ms > 0. Requests that arrived before `warm_up_ms` are not counted.
Summary summarise(const Result& result, double slo_ms, double warm_up_ms = 2000);

}  // namespace brink::fleet
