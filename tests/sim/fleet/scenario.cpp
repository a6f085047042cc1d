#include "tests/sim/fleet/scenario.hpp"

#include <cmath>
#include <stdexcept>

namespace brink::fleet {
namespace {

using What = Change::What;

// The same change on the first `count` engines.
void on_first(Scenario& scenario, std::uint32_t count, double at, What what, double value) {
  for (std::uint32_t i = 0; i < count; ++i) scenario.changes.push_back({at, i, what, value});
}

}  // namespace

std::vector<Scenario> scenarios(std::uint32_t engines) {
  const std::vector<double> alike(engines, 1);
  const std::uint32_t quarter = engines / 4;
  std::vector<Scenario> all;
  const auto add = [&](std::string name, double load) -> Scenario& {
    all.push_back({std::move(name), load, alike, {}, 1});
    return all.back();
  };
  add("equal", 0.75);
  {
    Scenario& scenario = add("weights 3:1:1", 0.75);
    for (std::uint32_t i = 0; i < engines; i += 4) {
      scenario.weights[i] = 3;
      scenario.changes.push_back({0, i, What::slowness, 1.0 / 3});
    }
  }
  on_first(add("one in four 4x slower", 0.75), quarter, 0, What::slowness, 4);
  on_first(add("one in four 16x slower", 0.75), quarter, 0, What::slowness, 16);
  on_first(add("half 2x slower", 0.75), 2 * quarter, 0, What::slowness, 2);
  {
    Scenario& scenario = add("brown-out 8x", 0.6);
    on_first(scenario, quarter, 1.0 / 3, What::slowness, 8);
    on_first(scenario, quarter, 2.0 / 3, What::slowness, 1);
  }
  {
    Scenario& scenario = add("hang", 0.6);
    on_first(scenario, quarter, 1.0 / 3, What::hung, 1);
    on_first(scenario, quarter, 2.0 / 3, What::hung, 0);
  }
  {
    Scenario& scenario = add("fast failures", 0.6);
    on_first(scenario, quarter, 1.0 / 3, What::failing, 1);
    on_first(scenario, quarter, 2.0 / 3, What::failing, 0);
  }
  {
    Scenario& scenario = add("endpoint added cold", 0.6);
    on_first(scenario, quarter, 0, What::away, 1);
    on_first(scenario, quarter, 1.0 / 3, What::away, 0);
  }
  add("two edges", 0.75).edges = 2;
  add("eight edges", 0.75).edges = 8;
  {
    Scenario& scenario = add("eight edges, one in four 4x slower", 0.75);
    scenario.edges = 8;
    on_first(scenario, quarter, 0, What::slowness, 4);
  }
  add("overload 1.1", 1.1);
  add("overload 1.3", 1.3);
  return all;
}

EngineShape shape_named(std::string_view name) {
  if (name == "small") return {};
  if (name == "big") return {64, 12, 0.15, 20, 1, 16384, 0};
  throw std::invalid_argument("no engine is called '" + std::string(name) + "'; there are small and big");
}

double capacity(const EngineShape& shape, const Trace& trace, const std::vector<double>& slowness) {
  double prompt = 0, steps = 0;
  for (const Request& request : trace.requests) {
    prompt += request.prompt_tokens;
    steps += std::ceil(request.output_tokens / shape.tokens_per_step);
  }
  const auto count = static_cast<double>(trace.requests.size());
  const double step = shape.step_ms / shape.batch_cap + shape.step_ms_per_request;  // a request's share of a full one
  const double cost_ms = prompt / count / shape.prompt_tokens_per_ms + steps / count * step;
  double engines = 0;
  for (const double slow : slowness) engines += 1 / slow;
  return 1000 / cost_ms * engines;
}

}  // namespace brink::fleet
