// brink-sim: the command line of the routing simulator; docs/balancing.md says what it shows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

#include "tests/sim/fleet/report.hpp"
#include "tests/sim/fleet/scenario.hpp"
#include "tests/sim/fleet/trace.hpp"

namespace {

using namespace brink::fleet;

struct Options {
  std::string trace = "synthetic";
  std::string file;
  std::string shape = "small";
  std::uint32_t engines = 4;
  double seconds = 300;
  double slo_ms = 500;
  std::uint64_t seed = 11;
  std::uint32_t cache_blocks = 4000;
  std::vector<std::string> policies;
  std::string only;
  std::string csv;
  std::string svg;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--trace", options.trace, "azure, azure-poisson, mooncake or synthetic")
      ->check(CLI::IsMember({"azure", "azure-poisson", "mooncake", "synthetic"}))
      ->capture_default_str();
  app.add_option("--file", options.file, "the trace's file; docs/balancing.md says where to get it")
      ->check(CLI::ExistingFile);
  app.add_option("--shape", options.shape, "of the engines")
      ->check(CLI::IsMember({"small", "big"}))
      ->capture_default_str();
  app.add_option("--engines", options.engines, "how many; a multiple of 4")
      ->check(CLI::Range(4, 1024))
      ->check([](const std::string& text) { return std::stoul(text) % 4 == 0 ? "" : "is no multiple of 4"; })
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "of traffic")->check(CLI::Range(20, 3600))->capture_default_str();
  app.add_option("--slo-ms", options.slo_ms, "goodput counts first tokens within this")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of everything drawn")->capture_default_str();
  app.add_option("--cache-blocks", options.cache_blocks, "of 512 tokens that an engine's prefix cache keeps (mooncake)")
      ->capture_default_str();
  app.add_option("--policy", options.policies, "only this one; may be repeated (default: all)");
  app.add_option("--scenario", options.only, "only those whose name contains this");
  app.add_option("--csv", options.csv, "write every number there");
  app.add_option("--svg", options.svg, "draw the swing of P90 in the last scenario there");
}

Trace base_trace(const Options& options) {
  if (options.trace == "synthetic") return synthetic(20'000, options.seed);
  if (options.file.empty()) throw std::runtime_error("--trace " + options.trace + " needs --file");
  return options.trace == "mooncake" ? read_mooncake(options.file) : read_azure(options.file);
}

// What the engines can do at the start of the scenario.
double capacity_at_start(const Scenario& scenario, const EngineShape& shape, const Trace& trace) {
  std::vector<double> slowness(scenario.weights.size(), 1);
  for (const Change& change : scenario.changes)
    if (change.at == 0 && change.what == Change::What::slowness) slowness[change.engine] = change.value;
  return capacity(shape, trace, slowness);
}

void cut(Trace& trace, double seconds) {
  std::erase_if(trace.requests, [&](const Request& request) { return request.arrival > seconds * 1000; });
}

Row run_one(const Options& options, const Scenario& scenario, const EngineShape& shape, const Trace& trace,
            const std::string& policy) {
  Fleet fleet;
  fleet.shape = shape;
  fleet.weights = scenario.weights;
  fleet.edges = scenario.edges;
  fleet.seed = options.seed;
  for (Change change : scenario.changes) {
    change.at *= options.seconds * 1000;
    fleet.changes.push_back(change);
  }
  const auto make = [&](const FleetShape& known, std::uint64_t seed) { return make_policy(policy, known, seed); };
  const Result result = simulate(fleet, trace.requests, make);
  return {scenario.name, policy, summarise(result, options.slo_ms), p90_by_window(result)};
}

std::vector<Row> run_all(const Options& options) {
  const Trace base = base_trace(options);
  EngineShape shape = shape_named(options.shape);
  if (options.trace == "mooncake") shape.cache_blocks = options.cache_blocks;
  std::vector<Row> rows;
  for (const Scenario& scenario : scenarios(options.engines)) {
    if (scenario.name.find(options.only) == std::string::npos) continue;
    const double rate = scenario.load * capacity_at_start(scenario, shape, base);
    Trace trace;
    if (options.trace == "azure" || options.trace == "mooncake") {
      trace = base;
      rescale(trace, rate);
      cut(trace, options.seconds);
    } else {
      trace = poisson(base, rate, options.seconds, options.seed);
    }
    std::cerr << scenario.name << ": " << trace.requests.size() << " requests, " << std::lround(rate) << "/s\n";
    for (const std::string& policy : options.policies) rows.push_back(run_one(options, scenario, shape, trace, policy));
  }
  if (rows.empty()) throw std::runtime_error("no scenario's name contains '" + options.only + "'");
  return rows;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names = shipped_names();
  const auto rivals = rival_names();
  names.insert(names.end(), rivals.begin(), rivals.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

template <class Write>
void write_file(const std::string& path, Write&& write) {
  if (path.empty()) return;
  std::ofstream out(path);
  write(out);
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares balancing policies on simulated GPU engines, deterministically.", "brink-sim");
  Options options;
  add_options(app, options);
  const std::vector<std::string> known = policy_names();
  app.footer("Policies: " + joined(known) + ".");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (options.policies.empty()) options.policies = known;
    for (const std::string& policy : options.policies)
      if (std::find(known.begin(), known.end(), policy) == known.end())
        throw std::runtime_error("no policy is called '" + policy + "'; there are " + joined(known));
    const std::vector<Row> rows = run_all(options);
    write_tables(std::cout, rows);
    write_file(options.csv, [&](std::ostream& out) { write_csv(out, rows); });
    write_file(options.svg, [&](std::ostream& out) { write_svg(out, rows); });
  } catch (const std::exception& error) {
    std::cerr << "brink-sim: " << error.what() << '\n';
    return 2;
  }
}
