#include "tests/sim/fleet/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>

namespace brink::fleet {
namespace {

struct Column {
  const char* name;
  double Summary::*value;
};

constexpr Column columns[] = {
    {"ttft_p50_ms", &Summary::ttft_p50},
    {"ttft_p90_ms", &Summary::ttft_p90},
    {"ttft_p99_ms", &Summary::ttft_p99},
    {"total_p50_ms", &Summary::total_p50},
    {"total_p90_ms", &Summary::total_p90},
    {"total_p99_ms", &Summary::total_p99},
    {"p90_deviation_ms", &Summary::p90_deviation},
    {"p90_range_ms", &Summary::p90_range},
    {"goodput", &Summary::goodput},
    {"lost", &Summary::lost},
    {"imbalance", &Summary::imbalance},
    {"hit_share", &Summary::hit_share},
};

template <class Get>
std::vector<std::string> distinct(const std::vector<Row>& rows, Get&& get) {
  std::vector<std::string> found;
  for (const Row& row : rows)
    if (std::find(found.begin(), found.end(), get(row)) == found.end()) found.push_back(get(row));
  return found;
}

std::vector<std::string> policies_of(const std::vector<Row>& rows) {
  return distinct(rows, [](const Row& row) { return row.policy; });
}

std::vector<std::string> scenarios_of(const std::vector<Row>& rows) {
  return distinct(rows, [](const Row& row) { return row.scenario; });
}

const Row& row_of(const std::vector<Row>& rows, const std::string& scenario, const std::string& policy) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.scenario == scenario && row.policy == policy; });
}

bool is_shipped(const std::string& policy) {
  const auto shipped = shipped_names();
  return std::find(shipped.begin(), shipped.end(), policy) != shipped.end();
}

void write_table(std::ostream& out, const std::vector<Row>& rows, const std::string& title, double Summary::*value,
                 int digits) {
  const auto policies = policies_of(rows);
  out << "\n### " << title << "\n\n| |";
  for (const std::string& policy : policies) out << ' ' << policy << " |";
  out << "\n|---|";
  for (std::size_t i = 0; i < policies.size(); ++i) out << "---:|";
  out << '\n' << std::fixed << std::setprecision(digits);
  for (const std::string& scenario : scenarios_of(rows)) {
    double least = HUGE_VAL;
    for (const std::string& policy : policies) least = std::min(least, row_of(rows, scenario, policy).summary.*value);
    out << "| " << scenario << " |";
    for (const std::string& policy : policies) {
      const double number = row_of(rows, scenario, policy).summary.*value;
      const char* mark = digits == 0 && number <= least * 1.03 ? "**" : "";
      out << ' ' << mark << number << mark << " |";
    }
    out << '\n';
  }
}

}  // namespace

double ratio_to_best_rival(const std::vector<Row>& rows, const std::string& policy) {
  double sum = 0;
  const auto scenarios = scenarios_of(rows);
  for (const std::string& scenario : scenarios) {
    double best = HUGE_VAL;
    for (const Row& row : rows)
      if (row.scenario == scenario && !is_shipped(row.policy)) best = std::min(best, row.summary.ttft_p99);
    if (best == HUGE_VAL) return 0;
    sum += std::log(row_of(rows, scenario, policy).summary.ttft_p99 / best);
  }
  return std::exp(sum / static_cast<double>(scenarios.size()));
}

void write_tables(std::ostream& out, const std::vector<Row>& rows) {
  write_table(out, rows, "p99 of time to first token, ms (bold: within 3 % of the least)", &Summary::ttft_p99, 0);
  write_table(out, rows, "p50 of time to first token, ms", &Summary::ttft_p50, 0);
  write_table(out, rows, "Standard deviation of P90 over 10 s windows, ms", &Summary::p90_deviation, 0);
  write_table(out, rows, "Share answered within the SLO", &Summary::goodput, 4);
  write_table(out, rows, "Lost requests, share", &Summary::lost, 4);
  write_table(out, rows, "p99 of the whole answer, ms", &Summary::total_p99, 0);
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.summary.hit_share > 0; }))
    write_table(out, rows, "Prefix blocks found, share", &Summary::hit_share, 2);
  if (ratio_to_best_rival(rows, rows.front().policy) == 0) return;
  out << "\n### Geometric mean over the scenarios of p99 to the best rival of each\n\n";
  out << std::fixed << std::setprecision(2);
  for (const std::string& policy : policies_of(rows))
    out << "- " << policy << ": " << ratio_to_best_rival(rows, policy) << '\n';
}

void write_csv(std::ostream& out, const std::vector<Row>& rows) {
  out << "scenario,policy";
  for (const Column& column : columns) out << ',' << column.name;
  out << '\n';
  for (const Row& row : rows) {
    out << '"' << row.scenario << "\"," << row.policy << std::setprecision(6);
    for (const Column& column : columns) out << ',' << row.summary.*column.value;
    out << '\n';
  }
}

void write_svg(std::ostream& out, const std::vector<Row>& rows) {
  constexpr double width = 800, height = 360, left = 70, bottom = 40, top = 20;
  static constexpr std::array palette{"#888888", "#d9822b", "#1f7a4d", "#3b6fb6", "#a23b72", "#6a5acd"};
  const std::string scenario = rows.back().scenario;
  double most = 1;
  std::size_t windows = 2;
  std::vector<const Row*> drawn;
  for (const Row& row : rows) {
    if (row.scenario != scenario || drawn.size() == palette.size()) continue;
    drawn.push_back(&row);
    windows = std::max(windows, row.p90.size());
    for (const double value : row.p90) most = std::max(most, value);
  }
  const auto x = [&](std::size_t i) { return left + double(i) / double(windows - 1) * (width - left - 10); };
  // Logarithmic from 10 ms: policies differ by orders of magnitude.
  const auto y = [&](double ms) {
    const double share = std::log10(std::max(ms, 10.0) / 10) / std::log10(std::max(most, 100.0) / 10);
    return height - bottom - share * (height - bottom - top);
  };
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' '
      << height + 20 * static_cast<double>(drawn.size())
      << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<text x=\"" << left << "\" y=\"14\">P90 of time to first token over 10 s, ms: " << scenario << "</text>\n";
  for (double tick = 10; tick <= std::max(most, 100.0); tick *= 10)
    out << "<line x1=\"" << left << "\" x2=\"" << width - 10 << "\" y1=\"" << y(tick) << "\" y2=\"" << y(tick)
        << "\" stroke=\"#ddd\"/><text x=\"" << left - 6 << "\" y=\"" << y(tick) + 4 << "\" text-anchor=\"end\">" << tick
        << "</text>\n";
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    out << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << palette[i] << "\" points=\"";
    for (std::size_t at = 0; at < drawn[i]->p90.size(); ++at) out << x(at) << ',' << y(drawn[i]->p90[at]) << ' ';
    out << "\"/>\n<rect x=\"" << left << "\" y=\"" << height - 22 + 20 * double(i)
        << "\" width=\"20\" height=\"4\" fill=\"" << palette[i] << "\"/><text x=\"" << left + 28 << "\" y=\""
        << height - 16 + 20 * double(i) << "\">" << drawn[i]->policy << "</text>\n";
  }
  out << "</svg>\n";
}

}  // namespace brink::fleet
