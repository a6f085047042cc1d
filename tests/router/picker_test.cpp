// What each picker does with one decision after the other; how they fare over time is in balance_test.cpp.
#include "router/picker.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace brink::router {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time start = Time{} + seconds(1000);

std::uint64_t zero(void*) { return 0; }

// A cluster of endpoints a, b, c … with these weights.
struct Cluster {
  Cluster(conf::Balance balance, std::vector<unsigned> weights) {
    config.balance = balance;
    for (const unsigned weight : weights) {
      config.endpoints.emplace_back().weight = weight;
      pointers.push_back(&states.emplace_back(std::string(1, static_cast<char>('a' + states.size()))));
    }
  }
  // Asks `count` times and names who was picked; '-' is none.
  std::string picks(int count, Time now = start, std::vector<std::uint32_t> excluded = {}, std::uint64_t bytes = 0) {
    if (!picker) picker = make_picker(config, pointers, zero, nullptr);
    std::string names;
    for (int i = 0; i < count; ++i) {
      const int index = picker->pick({now, bytes, excluded});
      names += index == Picker::none ? "-" : states[static_cast<std::size_t>(index)].name;
    }
    return names;
  }
  void fail(std::size_t index, int times = 1) {
    for (int i = 0; i < times; ++i) Flight(states[index], start, 0).finish(start, Outcome::failure);
  }
  // Requests that stay.
  void load(std::size_t index, int count, std::uint64_t bytes = 0) {
    for (int i = 0; i < count; ++i) flights.emplace_back(states[index], start, bytes);
  }
  // Past answers, each after `ms`.
  void answer(std::size_t index, int count, int ms) {
    for (int i = 0; i < count; ++i) Flight(states[index], start - milliseconds(ms), 0).finish(start, Outcome::success);
  }

  conf::ClusterConfig config;
  std::deque<EndpointState> states;
  std::vector<EndpointState*> pointers;
  std::unique_ptr<Picker> picker;
  std::deque<Flight> flights;
};

constexpr auto wrr = conf::Balance::weighted_round_robin;
constexpr auto least = conf::Balance::least_requests;
constexpr auto score = conf::Balance::score;

TEST(WeightedRoundRobin, SpreadsTheHeavyEndpoint) {
  EXPECT_EQ(Cluster(wrr, {5, 1, 1}).picks(14), "aabacaaaabacaa");
  EXPECT_EQ(Cluster(wrr, {1, 1, 1}).picks(7), "abcabca");
  EXPECT_EQ(Cluster(wrr, {2, 1}).picks(6), "abaaba");
}

TEST(WeightedRoundRobin, SkipsWhatCannotBeUsed) {
  Cluster cluster(wrr, {1, 1, 1});
  EXPECT_EQ(cluster.picks(4, start, {1}), "acac");
  cluster.states[0].healthy = false;
  EXPECT_EQ(cluster.picks(2, start, {2}), "bb");
}

TEST(WeightedRoundRobin, LowersTheWeightOnFailureAndGivesItBack) {
  Cluster cluster(wrr, {1, 1});
  EXPECT_EQ(cluster.picks(4), "abab");
  cluster.fail(0, 2);
  const std::string after = cluster.picks(40);
  EXPECT_LE(std::count(after.begin(), after.end(), 'a'), 6);
  cluster.picks(200);
  EXPECT_EQ(cluster.picks(100).find("bb"), std::string::npos) << "recovered";
}

TEST(WeightedRoundRobin, GoesOnWhenAllFail) {
  Cluster cluster(wrr, {1, 1});
  cluster.picks(1);
  cluster.fail(0, 5);
  cluster.fail(1, 5);
  EXPECT_EQ(cluster.picks(20).find('-'), std::string::npos);
}

TEST(LeastRequests, TakesTheLeastForItsWeight) {
  Cluster cluster(least, {1, 1, 2});
  cluster.load(0, 2);
  cluster.load(1, 1);
  cluster.load(2, 3);
  // (in flight + 1) / weight: 3, 2, 2
  EXPECT_EQ(cluster.picks(1, start, {2}), "b");
  EXPECT_EQ(cluster.picks(1, start, {1}), "c");
  EXPECT_EQ(cluster.picks(1, start, {1, 2}), "a");
}

TEST(LeastRequests, RotatesAmongEquals) {
  Cluster cluster(least, {1, 1, 1});
  EXPECT_EQ(cluster.picks(6), "abcabc");
  cluster.load(1, 1);
  EXPECT_EQ(cluster.picks(4).find('b'), std::string::npos);
}

TEST(LeastRequests, DoesNotTakeAFastFailureForAnIdleEndpoint) {
  Cluster cluster(least, {1, 1});
  cluster.load(1, 2);
  EXPECT_EQ(cluster.picks(1), "a");
  cluster.fail(0, 3);
  EXPECT_EQ(cluster.picks(1), "b");
  EXPECT_EQ(cluster.picks(1, start + seconds(30)), "a");
}

TEST(Score, StartsWithEqualTurnsByWeight) {
  EXPECT_EQ(Cluster(score, {1, 1, 1}).picks(6), "abcabc");
  EXPECT_EQ(Cluster(score, {3, 1}).picks(8), "aabaaaba");
}

TEST(Score, CountsPromptsNotRequests) {
  Cluster cluster(score, {1, 1});
  cluster.load(0, 1, 100'000);
  cluster.load(1, 3, 1'000);
  EXPECT_EQ(cluster.picks(1), "b");
}

TEST(Score, CountsWhatWaitsMoreThanWhatStreams) {
  Cluster cluster(score, {1, 1});
  cluster.load(0, 2, 4'000);
  cluster.load(1, 3, 4'000);
  for (Flight& flight : cluster.flights)
    if (flight.endpoint() == &cluster.states[1]) flight.first_byte(start);
  EXPECT_EQ(cluster.picks(1), "b");
}

TEST(Score, AvoidsTheSlowUntilTheOthersAreBusier) {
  Cluster cluster(score, {1, 1, 1});
  cluster.answer(0, 10, 1600);
  cluster.answer(1, 10, 100);
  cluster.answer(2, 10, 100);
  EXPECT_EQ(cluster.picks(4), "bcbc");
  cluster.load(1, 60);
  cluster.load(2, 60);
  EXPECT_EQ(cluster.picks(1), "a");
}

TEST(Score, IgnoresSmallDifferences) {
  Cluster cluster(score, {1, 1});
  cluster.answer(0, 20, 120);
  cluster.answer(1, 20, 100);
  EXPECT_EQ(cluster.picks(4), "abab");
}

TEST(Score, UsesANewEndpointAtOnce) {
  Cluster cluster(score, {1, 1});
  cluster.answer(0, 20, 100);
  EXPECT_EQ(cluster.picks(4), "abab");
}

TEST(Score, LeavesAQueueThatStandsStill) {
  Cluster cluster(score, {1, 1});
  cluster.answer(0, 20, 100);
  cluster.answer(1, 20, 100);
  cluster.load(0, 1);
  cluster.load(1, 8);
  EXPECT_EQ(cluster.picks(1), "a");
  for (Flight& flight : cluster.flights)
    if (flight.endpoint() == &cluster.states[1]) flight.first_byte(start + milliseconds(100));
  EXPECT_EQ(cluster.picks(1, start + milliseconds(100)), "a") << "shorter than the eight streams of b";
  EXPECT_EQ(cluster.picks(1, start + seconds(2)), "b") << "but it does not move";
}

TEST(Score, DoesNotTakeAFastFailureForAFastEndpoint) {
  Cluster cluster(score, {1, 1});
  cluster.answer(0, 20, 100);
  cluster.answer(1, 20, 100);
  cluster.load(1, 3);
  cluster.fail(0, 4);
  EXPECT_EQ(cluster.picks(1), "b");
}

class EveryPicker : public testing::TestWithParam<conf::Balance> {};
INSTANTIATE_TEST_SUITE_P(Balance, EveryPicker, testing::Values(wrr, least, score), [](const auto& chosen) {
  return chosen.param == wrr ? "wrr" : chosen.param == least ? "least_requests" : "score";
});

TEST_P(EveryPicker, SaysNoneOnlyWhenNothingIsLeft) {
  Cluster cluster(GetParam(), {1, 1});
  EXPECT_EQ(cluster.picks(1, start, {0, 1}), "-");
  EXPECT_EQ(cluster.picks(2, start, {0}), "bb");
  EXPECT_EQ(cluster.picks(1, start, {0, 0, 99}), "b");
}

TEST_P(EveryPicker, UsesTheUnhealthyOnlyInPanic) {
  Cluster cluster(GetParam(), {1, 1, 1});
  cluster.states[0].healthy = false;
  EXPECT_EQ(cluster.picks(10).find('a'), std::string::npos);
  EXPECT_EQ(cluster.picks(1, start, {1, 2}), "-") << "a healthy one exists, this request just may not use it";
  cluster.states[1].healthy = false;
  const std::string all = cluster.picks(9);
  for (const char name : {'a', 'b', 'c'}) EXPECT_EQ(std::count(all.begin(), all.end(), name), 3) << all;
}

TEST_P(EveryPicker, WithoutAThresholdTheUnhealthyAreNeverUsed) {
  Cluster cluster(GetParam(), {1, 1, 1});
  cluster.config.panic_threshold = 0;
  for (auto& state : cluster.states) state.healthy = false;
  EXPECT_EQ(cluster.picks(1), "-");
  cluster.states[1].healthy = true;
  EXPECT_EQ(cluster.picks(3), "bbb");
}

TEST_P(EveryPicker, LeavesTheEjectedOutAndTriesThemOneAtATime) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.states[0].ejection.eject(start, seconds(10), seconds(10));
  EXPECT_EQ(cluster.picks(5), "bbbbb");
  EXPECT_EQ(cluster.picks(1, start, {1}), "-");
  const Time later = start + seconds(10);
  cluster.load(1, 3);
  EXPECT_NE(cluster.picks(3, later).find('a'), std::string::npos);
  const Flight trial(cluster.states[0], later, 0);
  EXPECT_EQ(cluster.picks(5, later), "bbbbb");
}

TEST_P(EveryPicker, InPanicTheEjectedAreUsed) {
  Cluster cluster(GetParam(), {1, 1, 1});
  for (std::size_t i : {0, 1}) cluster.states[i].ejection.eject(start, seconds(10), seconds(10));
  EXPECT_NE(cluster.picks(9).find('a'), std::string::npos);
}

TEST_P(EveryPicker, WithoutEjectionAnotherClustersIsIgnored) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.config.outlier.max_ejected = 0;
  cluster.states[0].ejection.eject(start, seconds(10), seconds(10));
  EXPECT_NE(cluster.picks(4).find('a'), std::string::npos);
}

TEST_P(EveryPicker, LeavesAloneWhoAskedForItWhileOthersCanBePicked) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.states[0].ejection.pause(start + seconds(5));
  EXPECT_EQ(cluster.picks(4), "bbbb");
  EXPECT_EQ(cluster.picks(1, start, {1}), "a");
  EXPECT_TRUE(cluster.picker->any({start, 0, {}}));
  const std::uint32_t b = 1;
  EXPECT_TRUE(cluster.picker->any({start, 0, {&b, 1}}));
  EXPECT_FALSE(cluster.picker->any({start, 0, {&b, 1}}, true));
  cluster.config.limits.per_endpoint_requests = 1;
  cluster.load(1, 1);
  EXPECT_EQ(cluster.picks(1), "a");
  cluster.load(0, 1);
  EXPECT_EQ(cluster.picks(1), "-");
  EXPECT_FALSE(cluster.picker->any({start, 0, {}}));
}

TEST_P(EveryPicker, GivesOneThatReturnsASmallShareFirst) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.states[0].ejection.came_back(start);
  for (int i = 0; i < 20; ++i) {
    const std::string name = cluster.picks(1);
    cluster.load(name == "a" ? 0 : 1, 1);
  }
  const auto few = cluster.states[0].in_flight.load();
  EXPECT_LE(few, 4u);
  for (int i = 0; i < 60; ++i) {
    const std::string name = cluster.picks(1, start + seconds(10));
    cluster.load(name == "a" ? 0 : 1, 1);
  }
  EXPECT_GE(cluster.states[0].in_flight - few, 30u);
}

TEST_P(EveryPicker, KeepsTheRequestLimitOfAnEndpoint) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.config.limits.per_endpoint_requests = 2;
  cluster.load(0, 2);
  EXPECT_EQ(cluster.picks(3), "bbb");
  cluster.load(1, 2);
  EXPECT_EQ(cluster.picks(1), "-");
  cluster.flights.pop_front();
  EXPECT_EQ(cluster.picks(1), "a");
}

TEST_P(EveryPicker, KeepsTheQpsCapOfAnEndpoint) {
  Cluster cluster(GetParam(), {1, 1});
  cluster.config.endpoints[0].max_qps = 10;
  std::string picks;
  for (int ms = 0; ms < 2000; ms += 10) picks += cluster.picks(1, start + milliseconds(ms));
  EXPECT_EQ(picks.find('-'), std::string::npos);
  EXPECT_NEAR(static_cast<double>(std::count(picks.begin(), picks.end(), 'a')), 20, 1);
  cluster.config.endpoints[1].max_qps = 10;
  EXPECT_NE(cluster.picks(5, start + seconds(3)).find('-'), std::string::npos);
}

TEST_P(EveryPicker, TakesTheWeightIntoTheState) {
  Cluster cluster(GetParam(), {7});
  EXPECT_EQ(cluster.picks(1), "a");
  EXPECT_EQ(cluster.states[0].weight, 7u);
}

}  // namespace
}  // namespace brink::router
