#include "tests/sim/fleet/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace brink::fleet {
namespace {

constexpr double window_ms = 10'000;
constexpr std::size_t fewest_in_window = 20;  // of fewer, a P90 is one request's luck

void add_swing(Summary& summary, const std::vector<double>& p90) {
  if (p90.size() < 2) return;
  const double mean = std::accumulate(p90.begin(), p90.end(), 0.0) / static_cast<double>(p90.size());
  double squares = 0;
  for (const double value : p90) squares += (value - mean) * (value - mean);
  const auto [least, most] = std::minmax_element(p90.begin(), p90.end());
  summary.p90_deviation = std::sqrt(squares / static_cast<double>(p90.size()));
  summary.p90_range = *most - *least;
}

double imbalance(const std::vector<double>& busy) {
  const double total = std::accumulate(busy.begin(), busy.end(), 0.0);
  return total > 0 ? *std::max_element(busy.begin(), busy.end()) * static_cast<double>(busy.size()) / total : 1;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank = std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

std::vector<double> p90_by_window(const Result& result) {
  std::map<long, std::vector<double>> windows;
  for (const Done& done : result.requests)
    windows[static_cast<long>(done.arrival / window_ms)].push_back(done.first_token_ms);
  std::vector<double> p90;
  for (auto& [start, values] : windows)
    if (values.size() >= fewest_in_window) p90.push_back(quantile(std::move(values), 0.9));
  return p90;
}

Summary summarise(const Result& result, double slo_ms, double warm_up_ms) {
  std::vector<double> first, total;
  double good = 0, lost = 0;
  for (const Done& done : result.requests) {
    if (done.arrival < warm_up_ms) continue;
    first.push_back(done.first_token_ms);
    total.push_back(done.end_ms);
    good += !done.lost && done.first_token_ms <= slo_ms;
    lost += done.lost;
  }
  const double count = std::max(1.0, static_cast<double>(first.size()));
  Summary summary;
  summary.ttft_p50 = quantile(first, 0.5);
  summary.ttft_p90 = quantile(first, 0.9);
  summary.ttft_p99 = quantile(first, 0.99);
  summary.total_p50 = quantile(total, 0.5);
  summary.total_p90 = quantile(total, 0.9);
  summary.total_p99 = quantile(total, 0.99);
  add_swing(summary, p90_by_window(result));
  summary.goodput = good / count;
  summary.lost = lost / count;
  summary.imbalance = imbalance(result.busy_ms);
  summary.hit_share = result.hit_share;
  return summary;
}

}  // namespace brink::fleet
