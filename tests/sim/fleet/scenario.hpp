// The situations in which policies are compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/fleet/simulation.hpp"
#include "tests/sim/fleet/trace.hpp"

namespace brink::fleet {

struct Scenario {
  std::string name;
  double load = 0.75;           // of what the engines can do in all
  std::vector<double> weights;  // of the configuration
  std::vector<Change> changes;  // `at` as a share of the run, 0 to 1
  std::uint32_t edges = 1;
};

// Of `engines` engines (a multiple of 4): equal, weighted, slow, brown-out, hang, failing, cold, several edges,
// overload.
std::vector<Scenario> scenarios(std::uint32_t engines);

// `small`: batch of 8, 80 prompt tokens a ms. `big`: batch of 64, 20 tokens a ms. Throws std::invalid_argument.
EngineShape shape_named(std::string_view name);

// Requests a second that engines of these slownesses can do, of the trace's mean size.
double capacity(const EngineShape& shape, const Trace& trace, const std::vector<double>& slowness);

}  // namespace brink::fleet
