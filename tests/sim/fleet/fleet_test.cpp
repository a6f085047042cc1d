// The simulator itself: an engine's steps by hand, a run that repeats itself, and what a fault does to a policy.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/sim/fleet/report.hpp"
#include "tests/sim/fleet/scenario.hpp"
#include "tests/sim/fleet/trace.hpp"

namespace brink::fleet {
namespace {

Request request(std::uint32_t id, Time arrival, std::uint32_t prompt, std::uint32_t output) {
  return {arrival, id, prompt, output, {}};
}

PolicyMaker policy(std::string name) {
  return [name](const FleetShape& shape, std::uint64_t seed) { return make_policy(name, shape, seed); };
}

Fleet four_engines() {
  Fleet fleet;
  fleet.weights = {1, 1, 1, 1};
  return fleet;
}

TEST(Engine, AStepTakesPromptsAndTheBatch) {
  Engine engine({});
  const Request first = request(0, 0, 800, 16);
  const Request second = request(1, 0, 80, 8);
  engine.enqueue(first);
  EXPECT_DOUBLE_EQ(engine.begin_step(), 800 / 80.0 + 6 + 0.25);
  engine.enqueue(second);
  engine.slowness = 2;
  EXPECT_DOUBLE_EQ(engine.begin_step(), 2 * (80 / 80.0 + 6 + 0.5));
}

TEST(Engine, AdmitsNoMoreThanTheBatch) {
  EngineShape shape;
  shape.batch_cap = 1;
  Engine engine(shape);
  const Request first = request(0, 0, 80, 8), second = request(1, 0, 80, 8);
  engine.enqueue(first);
  engine.enqueue(second);
  engine.begin_step();
  EXPECT_EQ(engine.running().size(), 1u);
  EXPECT_EQ(engine.waiting(), 1u);
  EXPECT_TRUE(engine.remove(1));
  EXPECT_FALSE(engine.remove(1));
}

TEST(BlockCache, KeepsTheNewestAndMatchesFromTheFront) {
  BlockCache cache(3);
  const std::vector<std::uint32_t> blocks{1, 2, 3}, other{4};
  cache.touch(blocks);
  EXPECT_EQ(cache.matching(blocks), 3u);
  cache.touch(other);
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.matching(blocks), 0u) << "the first block is the oldest";
}

TEST(Simulation, OneRequestTakesItsSteps) {
  const std::vector<Request> requests{request(0, 5, 800, 24)};
  const Result result = simulate(four_engines(), requests, policy("score"));
  EXPECT_DOUBLE_EQ(result.requests[0].first_token_ms, 16.25);
  EXPECT_DOUBLE_EQ(result.requests[0].end_ms, 16.25 + 2 * 6.25);
  EXPECT_FALSE(result.requests[0].lost);
}

TEST(Simulation, TheSameInputGivesTheSameNumbers) {
  const Trace trace = poisson(synthetic(1000, 1), 70, 30, 1);
  std::vector<std::string> known = shipped_names();
  const auto rivals = rival_names();
  known.insert(known.end(), rivals.begin(), rivals.end());
  for (const std::string& name : known) {
    const Summary once = summarise(simulate(four_engines(), trace.requests, policy(name)), 500);
    const Summary again = summarise(simulate(four_engines(), trace.requests, policy(name)), 500);
    EXPECT_EQ(once.ttft_p99, again.ttft_p99) << name;
    EXPECT_EQ(once.imbalance, again.imbalance) << name;
  }
}

TEST(Simulation, AHungEngineLosesNothingWhereAnotherAnswers) {
  Fleet fleet = four_engines();
  fleet.changes.push_back({0, 2, Change::What::hung, 1});
  const Trace trace = poisson(synthetic(1000, 1), 40, 30, 1);
  const Result result = simulate(fleet, trace.requests, policy("score"));
  for (const Done& done : result.requests) {
    EXPECT_FALSE(done.lost);
    EXPECT_NE(done.engine, 2u);
  }
  EXPECT_EQ(result.busy_ms[2], 0);
}

TEST(Simulation, AnEngineThatIsAwayIsNotPicked) {
  Fleet fleet = four_engines();
  for (std::uint32_t i = 0; i < 4; ++i) fleet.changes.push_back({0, i, Change::What::away, 1});
  const Result result = simulate(fleet, {request(0, 5, 80, 8)}, policy("score"));
  EXPECT_TRUE(result.requests[0].lost);
}

// The claim that the score rests on: a fleet in which one engine is slow.
TEST(Scenarios, ScoreBeatsTheOthersWhereEnginesDiffer) {
  const Trace base = synthetic(5000, 1);
  for (const Scenario& scenario : scenarios(4)) {
    if (scenario.name != "one in four 4x slower") continue;
    const Trace trace = poisson(base, 0.75 * capacity({}, base, {4, 1, 1, 1}), 60, 1);
    Fleet fleet = four_engines();
    fleet.changes = scenario.changes;
    const auto p99 = [&](const char* name) {
      return summarise(simulate(fleet, trace.requests, policy(name)), 500).ttft_p99;
    };
    const double score = p99("score");
    EXPECT_LT(score, 0.8 * p99("least_requests"));
    EXPECT_LT(score, 0.2 * p99("weighted_round_robin"));
    return;
  }
  FAIL() << "no such scenario";
}

TEST(Trace, SaysWhereAFileIsWrong) {
  const auto file = std::filesystem::path(testing::TempDir()) / "brink_fleet_test.csv";
  std::ofstream(file) << "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\nnonsense\n";
  try {
    read_azure(file);
    FAIL() << "took nonsense";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("brink_fleet_test.csv:3: "), std::string::npos) << error.what();
  }
}

TEST(Trace, RescalingKeepsOrderAndCount) {
  Trace trace = synthetic(100, 1);
  rescale(trace, 50);
  EXPECT_EQ(trace.requests.size(), 100u);
  EXPECT_DOUBLE_EQ(trace.requests.front().arrival, 0);
  EXPECT_DOUBLE_EQ(trace.requests.back().arrival, 2000);
}

TEST(Report, RatioIsToTheBestRivalOfEachScenario) {
  Row ours{"a", "score", {}, {}}, good{"a", "x", {}, {}}, bad{"a", "y", {}, {}};
  ours.summary.ttft_p99 = 50;
  good.summary.ttft_p99 = 100;
  bad.summary.ttft_p99 = 400;
  EXPECT_DOUBLE_EQ(ratio_to_best_rival({ours, good, bad}, "score"), 0.5);
  std::ostringstream table;
  write_tables(table, {ours, good, bad});
  EXPECT_NE(table.str().find("| a | **50** | 100 | 400 |"), std::string::npos) << table.str();
}

}  // namespace
}  // namespace brink::fleet
