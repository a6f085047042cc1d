// How the pickers fare over a simulated minute in front of engines with continuous batching: equal, slow, hung, failing
// and new ones, one edge and two. The bounds have slack against what was measured, not against what would be wrong.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "tests/router/fleet.hpp"

namespace brink::router::test {
namespace {

class EveryBalance : public testing::TestWithParam<const char*> {
 protected:
  Scenario scenario() const {
    Scenario made;
    made.balance = GetParam();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Balance, EveryBalance, testing::Values("weighted_round_robin", "least_requests", "score"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST_P(EveryBalance, GivesEqualPeersEqualSharesWithoutBursts) {
  Scenario equal = scenario();
  equal.seconds = 120;
  Fleet fleet(equal);
  fleet.run();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(fleet.share(i), 0.25, 0.02 * 0.25 + 0.005) << i;
  EXPECT_LE(fleet.longest_run(), 5);
}

TEST_P(EveryBalance, GivesAnIdleFleetEqualShares) {
  Scenario idle = scenario();
  idle.requests_per_second = 2;
  idle.seconds = 500;
  Fleet fleet(idle);
  fleet.run();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(fleet.share(i), 0.25, 0.02) << i;
}

TEST_P(EveryBalance, FollowsWeightsThatStandForCapacity) {
  Scenario weighted = scenario();
  weighted.weights = {3, 1, 2};
  weighted.requests_per_second = 100;
  weighted.seconds = 120;
  Fleet fleet(weighted);
  fleet.run();
  EXPECT_NEAR(fleet.share(0), 3.0 / 6, 0.03);
  EXPECT_NEAR(fleet.share(1), 1.0 / 6, 0.03);
  EXPECT_NEAR(fleet.share(2), 2.0 / 6, 0.03);
}

TEST_P(EveryBalance, AvoidsAnEndpointThatFailsFast) {
  Fleet fleet(scenario());
  fleet.at(20'000, [&] { fleet.engine(0).fails = true; });
  fleet.at(40'000, [&] { fleet.engine(0).fails = false; });
  fleet.run();
  EXPECT_LT(fleet.share(0, 21'000, 40'000), 0.05);
  EXPECT_GT(fleet.share(0, 22'000, 40'000), 0) << "it is tried now and then";
  EXPECT_GT(fleet.share(0, 55'000, 60'000), 0.15) << "and used again when it has recovered";
}

TEST_P(EveryBalance, UsesACleanNewEndpointFromItsFirstSecond) {
  Fleet fleet(scenario());
  fleet.state(3).healthy = false;
  fleet.at(30'000, [&] { fleet.state(3).healthy = true; });
  fleet.run();
  EXPECT_EQ(fleet.share(3, 0, 30'000), 0);
  EXPECT_GT(fleet.share(3, 30'000, 31'000), 0.1);
  EXPECT_LT(fleet.share(3, 30'000, 31'000), 0.7) << "but not flooded";
  EXPECT_NEAR(fleet.share(3, 32'000, 60'000), 0.25, 0.03);
}

TEST_P(EveryBalance, KeepsRequestLimitsUnderLoad) {
  Scenario crowded = scenario();
  crowded.per_endpoint_requests = 3;
  crowded.requests_per_second = 120;
  Fleet fleet(crowded);
  fleet.run();
  const auto refused = std::count_if(fleet.done().begin(), fleet.done().end(),
                                     [](const Done& done) { return done.endpoint == Picker::none; });
  EXPECT_GT(refused, 0);
  EXPECT_EQ(fleet.most_in_flight(), 3u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(fleet.state(i).in_flight, 0u);
}

TEST(Score, GivesASlowEndpointLittle) {
  for (const bool streams : {true, false}) {
    Scenario scenario;
    scenario.streams = streams;
    scenario.requests_per_second = 50;
    Fleet fleet(scenario);
    fleet.engine(0).slowness = 16;
    fleet.run();
    EXPECT_LT(fleet.share(0, 5'000), 0.02) << streams;
    scenario.balance = "least_requests";
    Fleet rival(scenario);
    rival.engine(0).slowness = 16;
    rival.run();
    EXPECT_LT(fleet.percentile(0.99), 0.7 * rival.percentile(0.99)) << streams;
  }
}

TEST(Score, ReturnsToAnEndpointThatHasRecovered) {
  Scenario scenario;
  scenario.seconds = 120;
  Fleet fleet(scenario);
  fleet.at(20'000, [&] { fleet.engine(0).slowness = 8; });
  fleet.at(60'000, [&] { fleet.engine(0).slowness = 1; });
  fleet.run();
  EXPECT_LT(fleet.share(0, 22'000, 60'000), 0.06);
  EXPECT_GT(fleet.share(0, 90'000, 120'000), 0.2);
}

TEST(Score, TakesTrafficFromAHungEndpointWithinSeconds) {
  Scenario scenario;
  scenario.requests_per_second = 58;
  Fleet fleet(scenario);
  std::size_t there_already = 0;
  fleet.at(20'000, [&] {
    fleet.engine(0).hung = true;
    there_already = fleet.state(0).in_flight;
  });
  fleet.run();
  const auto lost = static_cast<std::size_t>(
      std::count_if(fleet.done().begin(), fleet.done().end(), [](const Done& done) { return done.first_byte_ms < 0; }));
  EXPECT_GE(lost, 1u);
  EXPECT_LE(lost, there_already + 3);
  EXPECT_EQ(fleet.share(0, 22'000, 60'000), 0);
}

TEST(Score, IsNotFooledByClientsThatGiveUpOnAHungEndpoint) {
  for (const bool streams : {true, false}) {
    Scenario scenario;
    scenario.streams = streams;
    scenario.requests_per_second = 50;
    scenario.client_patience_ms = streams ? 1'000 : 3'000;
    Fleet fleet(scenario);
    fleet.at(20'000, [&] { fleet.engine(0).hung = true; });
    fleet.run();
    EXPECT_LT(fleet.share(0, 22'000, 60'000), 0.012) << streams;
  }
}

TEST(Score, DoesNotLoseToTurnsInAUniformFleet) {
  for (const bool streams : {true, false})
    for (const double rate : {20.0, 60.0, 80.0}) {
      Scenario scenario;
      scenario.streams = streams;
      scenario.requests_per_second = rate;
      Fleet fleet(scenario);
      fleet.run();
      scenario.balance = "weighted_round_robin";
      Fleet turns(scenario);
      turns.run();
      EXPECT_LT(fleet.percentile(0.5), 1.05 * turns.percentile(0.5)) << rate << streams;
      EXPECT_LT(fleet.percentile(0.99), 1.05 * turns.percentile(0.99)) << rate << streams;
    }
}

TEST(Score, DoesNotHerdWithASecondEdge) {
  Scenario scenario;
  scenario.edges = 2;
  scenario.requests_per_second = 60;
  scenario.seconds = 120;
  Fleet fleet(scenario);
  fleet.engine(0).slowness = 4;
  fleet.run();
  scenario.balance = "least_requests";
  Fleet rival(scenario);
  rival.engine(0).slowness = 4;
  rival.run();
  EXPECT_LT(fleet.percentile(0.99), rival.percentile(0.99));
  for (int i = 1; i < 4; ++i) EXPECT_NEAR(fleet.share(i), (1 - fleet.share(0)) / 3, 0.02);
}

// docs/routing.md shows what this prints.
TEST(Score, BeatsItsRivalsWhereEndpointsDiffer) {
  struct Case {
    const char* name;
    double rate;
    std::function<void(Fleet&)> set_up;
  };
  const std::vector<Case> cases{
      {"equal", 75, [](Fleet&) {}},
      {"one 4 x slower", 60, [](Fleet& fleet) { fleet.engine(0).slowness = 4; }},
      {"two 2 x slower", 55, [](Fleet& fleet) { fleet.engine(0).slowness = fleet.engine(1).slowness = 2; }},
      {"one 16 x slower", 55, [](Fleet& fleet) { fleet.engine(0).slowness = 16; }},
      {"one 8 x slower for 20 s", 60, [](Fleet& fleet) {
         fleet.at(20'000, [&fleet] { fleet.engine(0).slowness = 8; });
         fleet.at(40'000, [&fleet] { fleet.engine(0).slowness = 1; });
       }}};
  double product = 1;
  std::printf("p99 of time to first byte, ms\n%-24s %20s %15s %8s\n", "", "weighted_round_robin", "least_requests",
              "score");
  for (const Case& one : cases) {
    std::map<std::string, double> p99;
    for (const char* balance : {"weighted_round_robin", "least_requests", "score"}) {
      Scenario scenario;
      scenario.balance = balance;
      scenario.requests_per_second = one.rate;
      Fleet fleet(scenario);
      one.set_up(fleet);
      fleet.run();
      p99[balance] = fleet.percentile(0.99);
    }
    std::printf("%-24s %20.0f %15.0f %8.0f\n", one.name, p99["weighted_round_robin"], p99["least_requests"],
                p99["score"]);
    product *= p99["score"] / std::min(p99["least_requests"], p99["weighted_round_robin"]);
    EXPECT_LT(p99["score"], 1.05 * p99["least_requests"]) << one.name;
  }
  EXPECT_LT(std::pow(product, 1.0 / static_cast<double>(cases.size())), 0.8);
}

TEST(Fleet, IsDeterministic) {
  Fleet one{Scenario{}};
  Fleet other{Scenario{}};
  one.run();
  other.run();
  EXPECT_GT(one.percentile(0.99), 0);
  EXPECT_EQ(one.percentile(0.99), other.percentile(0.99));
}

}  // namespace
}  // namespace brink::router::test
