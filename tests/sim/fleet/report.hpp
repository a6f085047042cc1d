// Prints what the runs gave: tables in Markdown, every number as CSV, the swing of P90 as SVG.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tests/sim/fleet/summary.hpp"

namespace brink::fleet {

struct Row {
  std::string scenario;
  std::string policy;
  Summary summary;
  std::vector<double> p90;  // of time to first token, ms, one for each 10 s
};

// REQUIRES of all: each scenario has the same policies in the same order.
void write_tables(std::ostream& out, const std::vector<Row>& rows);
void write_csv(std::ostream& out, const std::vector<Row>& rows);
void write_svg(std::ostream& out, const std::vector<Row>& rows);  // the last scenario's

// The geometric mean over all scenarios of this policy's p99 of time to first token to the best rival's. 0 when no
// rival was run.
double ratio_to_best_rival(const std::vector<Row>& rows, const std::string& policy);

}  // namespace brink::fleet
