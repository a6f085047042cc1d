// Runs one scenario: requests arrive at edges, policies pick engines, engines work, and the edges see what a proxy
// would see. Events in order of time, ties in the order they were made, one thread, seeded: the same input gives the
// same numbers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/fleet/engine.hpp"
#include "tests/sim/fleet/policy.hpp"

namespace brink::fleet {

struct Change {
  enum class What { slowness, hung, failing, away };
  Time at = 0;
  std::uint32_t engine = 0;
  What what = What::slowness;
  double value = 1;
};

struct Fleet {
  EngineShape shape;
  std::vector<double> weights;  // one for each engine
  std::vector<Change> changes;
  std::uint32_t edges = 1;  // proxies that know nothing of each other
  double scrape_every_ms = 500;
  double patience_ms = 10'000;  // without a first token the edge gives an attempt up
  std::uint32_t attempts = 3;
  std::uint64_t seed = 11;
};

struct Done {
  Time arrival = 0;
  double first_token_ms = 0;  // since arrival; of a lost request: how long it waited
  double end_ms = 0;
  std::uint32_t engine = 0;
  bool lost = false;
};

struct Result {
  std::vector<Done> requests;   // in order of arrival
  std::vector<double> busy_ms;  // one for each engine
  double hit_share = 0;         // of prompt blocks
};

using PolicyMaker = std::function<std::unique_ptr<Policy>(const FleetShape&, std::uint64_t seed)>;

// REQUIRES: requests in order of arrival, ids dense from 0.
Result simulate(const Fleet& fleet, const std::vector<Request>& requests, const PolicyMaker& make);

}  // namespace brink::fleet
