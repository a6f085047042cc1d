#include "router/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "router/registry.hpp"

namespace brink::router {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time start = Time{} + std::chrono::hours(24 * 400);

TEST(Flight, CountsARequestFromDispatchToEnd) {
  EndpointState state("a:1");
  Flight flight(state, start, 700);
  EXPECT_EQ(state.in_flight, 1u);
  EXPECT_EQ(state.waiting.load(), 1u);
  EXPECT_EQ(state.waiting_bytes, 700u);
  flight.first_byte(start + milliseconds(30));
  flight.first_byte(start + milliseconds(40));
  EXPECT_EQ(state.in_flight, 1u);
  EXPECT_EQ(state.waiting.load(), 0u);
  EXPECT_EQ(state.waiting_bytes, 0u);
  EXPECT_EQ(state.in_flight_bytes, 700u);
  flight.finish(start + milliseconds(90), Outcome::success);
  flight.finish(start + milliseconds(95), Outcome::failure);
  EXPECT_EQ(state.in_flight, 0u);
  EXPECT_EQ(state.in_flight_bytes, 0u);
  EXPECT_EQ(state.requests, 1u);
  EXPECT_EQ(state.successes, 1u);
  EXPECT_EQ(state.failures, 0u);
  EXPECT_DOUBLE_EQ(state.first_byte_ms, 30);
  EXPECT_EQ(flight.endpoint(), &state);
}

TEST(Flight, EndsAsCancelledWhenDropped) {
  EndpointState state("a:1");
  { const Flight flight(state, start, 10); }
  EXPECT_EQ(state.in_flight, 0u);
  EXPECT_EQ(state.waiting.load(), 0u);
  EXPECT_EQ(state.cancellations, 1u);
  EXPECT_EQ(state.failures, 0u);
}

TEST(Flight, MovesItsClaim) {
  EndpointState first("a:1");
  EndpointState second("b:1");
  Flight flight(first, start, 10);
  Flight taken(std::move(flight));
  EXPECT_FALSE(flight);
  EXPECT_TRUE(taken);
  EXPECT_EQ(first.in_flight, 1u);
  taken = Flight(second, start, 20);  // a retry elsewhere gives up the first claim
  EXPECT_EQ(first.in_flight, 0u);
  EXPECT_EQ(first.cancellations, 1u);
  EXPECT_EQ(second.in_flight, 1u);
  flight.first_byte(start);
  flight.finish(start, Outcome::success);
  EXPECT_EQ(first.successes, 0u);
}

TEST(Flight, LearnsLatencyFromSuccessOnly) {
  EndpointState state("a:1");
  for (const Outcome outcome : {Outcome::failure, Outcome::rejected, Outcome::cancelled}) {
    Flight flight(state, start, 0);
    flight.first_byte(start + milliseconds(1));
    flight.finish(start + milliseconds(1), outcome);
  }
  EXPECT_EQ(state.cost.view(start).evidence, 0);
  EXPECT_EQ(state.first_byte_ms, 0);
  Flight flight(state, start, 0);
  flight.first_byte(start + milliseconds(150));
  EXPECT_EQ(state.first_byte_ms, 0) << "the status is not known to be good yet";
  flight.finish(start + seconds(60), Outcome::success);
  EXPECT_DOUBLE_EQ(state.first_byte_ms, 150);
  EXPECT_NEAR(std::exp(state.cost.view(start + milliseconds(150)).log_cost) * state.work(0).sum(), 150e6, 1);
}

TEST(Flight, LearnsAtTheFirstByteWhenTheStatusIsGood) {
  EndpointState state("a:1");
  Flight flight(state, start, 0);
  flight.first_byte(start + milliseconds(150), true);
  EXPECT_DOUBLE_EQ(state.first_byte_ms, 150);
  flight.finish(start + seconds(60), Outcome::success);
  EXPECT_NEAR(state.cost.view(start + milliseconds(150)).evidence, 1, 1e-9) << "one request, one sample";
}

TEST(EndpointState, WorkGrowsWithTheQueueAndShrinksWithWeight) {
  EndpointState state("a:1");
  const double idle = state.work(1000).sum();
  EXPECT_GT(state.work(5000).sum(), idle);
  Flight running(state, start, 1000);
  const double queued = state.work(1000).sum();
  running.first_byte(start);
  const double streaming = state.work(1000).sum();
  EXPECT_GT(queued, streaming);
  EXPECT_GT(streaming, idle);
  state.weight = 4;
  EXPECT_DOUBLE_EQ(state.work(1000).sum() - idle, (streaming - idle) / 4);
}

TEST(WaitSum, KnowsTheMeanAge) {
  WaitSum waiting;
  EXPECT_EQ(waiting.mean_age(start), Clock::duration(0));
  waiting.add(start);
  waiting.add(start + seconds(2));
  EXPECT_EQ(waiting.load(), 2u);
  EXPECT_EQ(waiting.mean_age(start + seconds(5)), seconds(4));
  waiting.remove(start);
  EXPECT_EQ(waiting.mean_age(start + seconds(5)), seconds(3));
  EXPECT_EQ(waiting.mean_age(start), Clock::duration(0)) << "another worker's time may be behind";
  waiting.remove(start + seconds(2));
  EXPECT_EQ(waiting.load(), 0u);
}

TEST(WaitSum, HoldsManyOldRequests) {
  WaitSum waiting;
  for (int i = 0; i < 100'000; ++i) waiting.add(start);
  EXPECT_EQ(waiting.load(), 100'000u);
  EXPECT_EQ(waiting.mean_age(start + std::chrono::hours(24)), std::chrono::hours(24));
}

TEST(LearnedCost, ConvergesAndForgets) {
  LearnedCost cost;
  EXPECT_EQ(cost.view(start).evidence, 0);
  for (int i = 0; i < 100; ++i) cost.learn(start + milliseconds(i), 200);
  const auto settled = cost.view(start + milliseconds(99));
  EXPECT_NEAR(std::exp(settled.log_cost), 200, 1e-6);
  EXPECT_NEAR(settled.evidence, 20, 0.01);
  EXPECT_NEAR(cost.view(start + seconds(10) + milliseconds(99)).evidence, settled.evidence / 2, 0.01);
  EXPECT_GT(cost.view(start + seconds(60)).error, 4 * settled.error);
  cost.learn(start + seconds(100), 50);  // after a long silence one sample says almost all
  EXPECT_NEAR(std::exp(cost.view(start + seconds(100)).log_cost), 50, 2);
}

TEST(LearnedCost, TakesAGivenUpWaitAsALowerBound) {
  LearnedCost cost;
  cost.learn_at_least(start, 1);
  EXPECT_EQ(cost.view(start).evidence, 0) << "a client that left at once says nothing";
  cost.learn(start, 100);
  cost.learn_at_least(start, 10);
  EXPECT_NEAR(std::exp(cost.view(start).log_cost), 100, 1e-6);
  cost.learn_at_least(start, 10'000);
  EXPECT_GT(std::exp(cost.view(start).log_cost), 900);
}

TEST(Trouble, DoublesAndFades) {
  Trouble trouble;
  EXPECT_EQ(trouble.factor(start), 1);
  for (int i = 0; i < 3; ++i) trouble.failed(start);
  EXPECT_DOUBLE_EQ(trouble.factor(start), 8);
  EXPECT_DOUBLE_EQ(trouble.factor(start + seconds(2)), 4);
  EXPECT_DOUBLE_EQ(trouble.factor(start + seconds(6)), 1);
  trouble.succeeded(start);
  EXPECT_NEAR(trouble.factor(start), std::sqrt(8), 1e-9);
  for (int i = 0; i < 100; ++i) trouble.failed(start);
  EXPECT_DOUBLE_EQ(trouble.factor(start), 256);
}

TEST(RateGate, LetsThroughTheRateAndASmallBurst) {
  RateGate gate;
  int taken = 0;
  for (int ms = 0; ms < 10'000; ++ms) taken += gate.take(start + milliseconds(ms), 50);
  EXPECT_NEAR(taken, 505, 1);  // 50 a second, and the burst of a tenth of a second
  EXPECT_FALSE(gate.ready(start + milliseconds(9'999), 50));
  EXPECT_TRUE(gate.ready(start + milliseconds(10'000), 50));
  EXPECT_TRUE(gate.take(start, 0)) << "no cap";
}

TEST(RateGate, KeepsSlowRates) {
  RateGate gate;
  EXPECT_TRUE(gate.take(start, 0.5));
  EXPECT_FALSE(gate.take(start + milliseconds(1999), 0.5));
  EXPECT_TRUE(gate.take(start + milliseconds(2000), 0.5));
}

TEST(EndpointState, StaysExactUnderManyThreads) {
  EndpointState state("a:1");
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker)
    workers.emplace_back([&state, worker] {
      for (int i = 0; i < 5000; ++i) {
        const Time now = start + milliseconds(i);
        Flight flight(state, now, static_cast<std::uint64_t>(i));
        if (i % 3 != 0) flight.first_byte(now + milliseconds(5), i % 2 == 0);
        EXPECT_LT(state.waiting.mean_age(now), seconds(10));
        EXPECT_GT(state.work(10).sum(), 0);
        EXPECT_GE(state.trouble.factor(now), 1);
        flight.finish(now + milliseconds(9), static_cast<Outcome>((i + worker) % 4));
      }
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(state.requests, 20'000u);
  EXPECT_EQ(state.successes + state.rejections + state.failures + state.cancellations, 20'000u);
  EXPECT_EQ(state.in_flight, 0u);
  EXPECT_EQ(state.waiting.load(), 0u);
  EXPECT_EQ(state.waiting_bytes, 0u);
  EXPECT_EQ(state.in_flight_bytes, 0u);
}

TEST(EndpointRegistry, KeepsStateAsLongAsItIsUsed) {
  EndpointRegistry registry;
  auto old_configuration = registry.acquire("a:1");
  old_configuration->requests = 7;
  const auto new_configuration = registry.acquire("a:1");
  EXPECT_EQ(new_configuration, old_configuration);
  EXPECT_NE(registry.acquire("b:1"), old_configuration);
  old_configuration.reset();
  EXPECT_EQ(registry.acquire("a:1")->requests, 7u);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(EndpointRegistry, ForgetsWhatNobodyUses) {
  EndpointRegistry registry;
  registry.acquire("a:1")->requests = 7;
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(registry.acquire("a:1")->requests, 0u);
}

}  // namespace
}  // namespace brink::router
