// Which endpoints are left out, and how they come back.
#include "router/outliers.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace brink::router {
namespace {

using namespace std::chrono_literals;
using Phase = Ejection::Phase;
using Reason = Outliers::Reason;

const Time start = Time{} + std::chrono::hours(24 * 30);

struct Cluster {
  explicit Cluster(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      config.endpoints.emplace_back();
      pointers.push_back(&states.emplace_back(std::string(1, static_cast<char>('a' + i))));
    }
  }
  const Outliers& outliers() {
    if (!made) made.emplace(config, pointers);
    return *made;
  }
  // Attempts that end so; the last change, if one of them made one.
  std::optional<Outliers::Change> end(std::size_t index, Outcome outcome, int times = 1) {
    std::optional<Outliers::Change> last;
    for (int i = 0; i < times; ++i) {
      Flight(states[index], now, 0).finish(now, outcome);
      if (const auto change = outliers().finished(index, now, outcome)) last = change;
    }
    return last;
  }
  Phase phase(std::size_t index) { return states[index].ejection.phase(now); }

  conf::ClusterConfig config;
  std::deque<EndpointState> states;
  std::vector<EndpointState*> pointers;
  std::optional<Outliers> made;
  Time now = start;
};

TEST(Outliers, FailuresInARowTakeAnEndpointOut) {
  Cluster cluster(2);
  EXPECT_FALSE(cluster.end(0, Outcome::failure, 4));
  EXPECT_FALSE(cluster.end(0, Outcome::success));
  EXPECT_FALSE(cluster.end(0, Outcome::failure, 4));
  const auto change = cluster.end(0, Outcome::failure);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->reason, Reason::consecutive);
  EXPECT_EQ(change->out_for, 10s);
  EXPECT_EQ(to_string(*change), "failed too often in a row; left out for 10000 ms");
  EXPECT_EQ(cluster.phase(0), Phase::out);
  EXPECT_EQ(cluster.states[0].ejection.ejections(), 1u);
}

TEST(Outliers, BusyClientFaultsAndCancelledAreNoFailures) {
  for (const Outcome outcome : {Outcome::rejected, Outcome::overloaded, Outcome::cancelled}) {
    Cluster cluster(2);
    EXPECT_FALSE(cluster.end(0, outcome, 100));
    EXPECT_EQ(cluster.phase(0), Phase::in);
  }
}

TEST(Outliers, BusyAnswersDoNotHideFailures) {
  Cluster cluster(2);
  for (int i = 0; i < 4; ++i) {
    cluster.end(0, Outcome::failure);
    cluster.end(0, Outcome::overloaded);
  }
  EXPECT_TRUE(cluster.end(0, Outcome::failure));
}

TEST(Outliers, TheShareCountsFromAMinimumOfRequests) {
  Cluster cluster(2);
  cluster.config.outlier.consecutive_failures = 0;
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(cluster.end(0, Outcome::success));
    EXPECT_FALSE(cluster.end(0, Outcome::failure));
  }
  EXPECT_FALSE(cluster.end(0, Outcome::success));
  const auto change = cluster.end(0, Outcome::failure);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->reason, Reason::share);
}

TEST(Outliers, TheWindowForgets) {
  Cluster cluster(2);
  cluster.config.outlier.consecutive_failures = 0;
  cluster.end(0, Outcome::failure, 19);
  cluster.now += 10s;
  EXPECT_FALSE(cluster.end(0, Outcome::failure));
  EXPECT_FALSE(cluster.end(0, Outcome::failure, 18));
  EXPECT_TRUE(cluster.end(0, Outcome::failure));
}

TEST(Outliers, OnlyAShareIsTakenOut) {
  Cluster one(1);
  EXPECT_FALSE(one.end(0, Outcome::failure, 100));
  Cluster three(3);
  EXPECT_TRUE(three.end(0, Outcome::failure, 5));
  EXPECT_FALSE(three.end(1, Outcome::failure, 50));
  three.now += 11s;
  EXPECT_FALSE(three.end(1, Outcome::failure)) << "the first is on trial and counts still";
  EXPECT_TRUE(three.end(0, Outcome::success));
  EXPECT_TRUE(three.end(1, Outcome::failure));
  Cluster off(4);
  off.config.outlier.max_ejected = 0;
  EXPECT_FALSE(off.end(0, Outcome::failure, 100));
}

TEST(Outliers, OneTrialAtATimeUntilOneSucceeds) {
  Cluster cluster(2);
  cluster.end(0, Outcome::failure, 5);
  Ejection& ejection = cluster.states[0].ejection;
  EXPECT_FALSE(ejection.may_take(cluster.now + 9s));
  cluster.now += 10s;
  EXPECT_EQ(cluster.phase(0), Phase::trial);
  EXPECT_TRUE(ejection.may_take(cluster.now));
  Flight trial(cluster.states[0], cluster.now, 0);
  EXPECT_FALSE(ejection.may_take(cluster.now));
  trial.finish(cluster.now, Outcome::cancelled);
  EXPECT_FALSE(cluster.outliers().finished(0, cluster.now, Outcome::cancelled));
  EXPECT_TRUE(ejection.may_take(cluster.now)) << "nothing is known yet";
  Flight second(cluster.states[0], cluster.now, 0);
  const auto change = cluster.outliers().first_byte(0, cluster.now, true);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->reason, Reason::trial_passed);
  EXPECT_EQ(to_string(*change), "answers again");
  EXPECT_TRUE(ejection.may_take(cluster.now)) << "it is in service, though the trial still streams";
  EXPECT_FALSE(cluster.outliers().first_byte(0, cluster.now, true));
}

TEST(Outliers, AnAnswerToWhatWasSentBeforeDoesNotBringItBack) {
  Cluster cluster(2);
  cluster.end(0, Outcome::failure, 5);
  EXPECT_FALSE(cluster.end(0, Outcome::success));
  EXPECT_EQ(cluster.phase(0), Phase::out);
}

TEST(Outliers, TheTimeOutGrowsAndIsForgiven) {
  Cluster cluster(2);
  auto change = cluster.end(0, Outcome::failure, 5);
  for (const auto expected : {20s, 40s, 80s, 160s, 300s, 300s}) {
    cluster.now += change->out_for;
    change = cluster.end(0, Outcome::failure);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->reason, Reason::trial_failed);
    EXPECT_EQ(change->out_for, expected);
  }
  cluster.now += change->out_for;
  EXPECT_TRUE(cluster.end(0, Outcome::success));
  cluster.now += 6 * 60s;  // six of seven times are forgiven
  change = cluster.end(0, Outcome::failure, 5);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->out_for, 20s);
}

TEST(Outliers, TheShareOfOneThatReturnsGrows) {
  Cluster cluster(2);
  cluster.end(0, Outcome::failure, 5);
  cluster.now += 10s;
  Ejection& ejection = cluster.states[0].ejection;
  EXPECT_EQ(ejection.ramp(cluster.now, 10s), 1);
  cluster.end(0, Outcome::success);
  EXPECT_DOUBLE_EQ(ejection.ramp(cluster.now, 10s), 0.1);
  EXPECT_DOUBLE_EQ(ejection.ramp(cluster.now + 5s, 10s), 0.5);
  EXPECT_DOUBLE_EQ(ejection.ramp(cluster.now + 10s, 10s), 1);
  EXPECT_DOUBLE_EQ(ejection.ramp(cluster.now, 0s), 1);
}

// Answers that take this long, one every 100 ms.
std::optional<Outliers::Change> answers(Cluster& cluster, std::size_t index, int count,
                                        std::chrono::milliseconds took) {
  std::optional<Outliers::Change> last;
  for (int i = 0; i < count; ++i) {
    Flight(cluster.states[index], cluster.now - took, 0).finish(cluster.now, Outcome::success);
    if (const auto change = cluster.outliers().finished(index, cluster.now, Outcome::success)) last = change;
    cluster.now += 10ms;
  }
  return last;
}

TEST(Outliers, SlowEndpointsAreTakenOutOnlyIfAsked) {
  for (const double factor : {0.0, 8.0}) {
    Cluster cluster(3);
    cluster.config.outlier.slow_factor = factor;
    EXPECT_FALSE(answers(cluster, 0, 30, 50ms));
    EXPECT_FALSE(answers(cluster, 1, 30, 60ms));
    EXPECT_FALSE(answers(cluster, 2, 19, 1000ms)) << "not before min_requests";
    const auto change = answers(cluster, 2, 5, 1000ms);
    EXPECT_EQ(change.has_value(), factor > 0);
    EXPECT_TRUE(!change || change->reason == Reason::slow);
    EXPECT_EQ(cluster.phase(2) == Phase::in, factor == 0);
  }
}

TEST(Ejection, APauseIsTheLongestAskedFor) {
  Ejection ejection;
  EXPECT_EQ(ejection.paused(start), 0s);
  ejection.pause(start + 5s);
  ejection.pause(start + 2s);
  EXPECT_EQ(ejection.paused(start + 1s), 4s);
  EXPECT_EQ(ejection.paused(start + 6s), 0s);
}

TEST(ShareWindow, CountsAreBounded) {
  ShareWindow window;
  window.add(start, 10s, 4'000'000, 4'000'000);
  window.add(start, 10s, 1'000'000, 1'000'000);
  EXPECT_EQ(window.sum(start, 10s).total, (1u << 22) - 1);
  EXPECT_EQ(window.sum(start, 10s).marked, (1u << 22) - 1);
}

}  // namespace
}  // namespace brink::router
