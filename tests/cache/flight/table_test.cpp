#include "cache/flight/table.hpp"

#include <gtest/gtest.h>

#include "tests/cache/flight/loop.hpp"

namespace brink::cache {
namespace {

using Role = FlightTable::Role;
using std::chrono::seconds;

struct FlightTableTest : testing::Test {
  static constexpr std::size_t many = 100;
  boost::asio::io_context context;
  Woken woken{context};
  FlightTable table{1000};
  FlightTable::Clock::time_point now{seconds(1000)};

  FlightTable::Joined join(const std::string& key, std::size_t followers = many) {
    return table.join(key, woken.waker, followers, now);
  }
};

TEST_F(FlightTableTest, TheFirstLeadsAndTheNextFollows) {
  const auto first = join("a");
  const auto second = join("a");
  EXPECT_EQ(first.role, Role::lead);
  EXPECT_EQ(second.role, Role::follow);
  EXPECT_EQ(second.flight, first.flight);
  EXPECT_EQ(join("b").role, Role::lead);
  EXPECT_EQ(table.size(), 2u);
}

TEST_F(FlightTableTest, NobodyFindsARemovedFlight) {
  const auto first = join("a");
  table.remove(*first.flight);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(join("a").role, Role::lead);
}

TEST_F(FlightTableTest, RemovingAFlightLeavesItsSuccessor) {
  const auto first = join("a");
  table.remove(*first.flight);
  const auto second = join("a");
  table.remove(*first.flight);
  EXPECT_EQ(join("a").flight, second.flight);
}

TEST_F(FlightTableTest, FollowersAreLimited) {
  const auto leading = join("a", 2);
  join("a", 2);
  const auto last = join("a", 2);
  EXPECT_EQ(last.role, Role::follow);
  EXPECT_EQ(join("a", 2).role, Role::alone);
  last.flight->leave(last.ticket);
  EXPECT_EQ(join("a", 2).role, Role::follow);
}

TEST_F(FlightTableTest, ACallInTheBackgroundIsMadeOnceAndMayBeFollowed) {
  const FlightPtr flight = table.lead("a");
  ASSERT_NE(flight, nullptr);
  EXPECT_EQ(table.lead("a"), nullptr);
  EXPECT_EQ(join("a").flight, flight);
}

TEST_F(FlightTableTest, WhatCannotBeSharedIsRememberedForAWhile) {
  table.remember_alone("a", now + seconds(2));
  EXPECT_EQ(join("a").role, Role::alone);
  EXPECT_EQ(join("b").role, Role::lead);
  now += seconds(2);
  EXPECT_EQ(join("a").role, Role::lead);
}

TEST_F(FlightTableTest, WhatCannotBeSharedIsRememberedInBounds) {
  const std::size_t more_than_fit = 16 * 4096 * 3;
  for (std::size_t i = 0; i < more_than_fit; ++i) table.remember_alone(std::to_string(i), now + seconds(2));
  EXPECT_EQ(join("0").role, Role::lead) << "the oldest went first";
  EXPECT_EQ(join(std::to_string(more_than_fit - 1)).role, Role::alone);
}

TEST_F(FlightTableTest, AnAnswerThatArrivedIsLookedAtBeforeANewCall) {
  const auto arrived = [] { return true; };
  EXPECT_EQ(table.join("a", woken.waker, many, now, arrived).role, Role::look);
  EXPECT_EQ(table.size(), 0u);
  join("b");
  EXPECT_EQ(table.join("b", woken.waker, many, now, arrived).role, Role::follow) << "no need to ask";
}

// However late each of them hears that its call failed, together they make three.
TEST_F(FlightTableTest, WhoFollowedAFailedCallMakesNoMoreThanTheyMay) {
  const auto first = join("a");
  join("a");
  table.remove(*first.flight);
  const auto second = table.take_over(*first.flight, woken.waker, 3);
  EXPECT_EQ(second.role, Role::lead);
  EXPECT_EQ(join("a").flight, second.flight) << "newcomers find it";
  table.remove(*second.flight);  // it failed, too, before the next one heard of the first

  const auto late = table.take_over(*first.flight, woken.waker, 3);
  EXPECT_EQ(late.role, Role::follow);
  EXPECT_EQ(late.flight, second.flight);
  const auto third = table.take_over(*second.flight, woken.waker, 3);
  EXPECT_EQ(third.role, Role::lead);
  EXPECT_EQ(third.flight->calls(), 3u);
  table.remove(*third.flight);
  EXPECT_EQ(table.take_over(*third.flight, woken.waker, 3).role, Role::none);
}

TEST_F(FlightTableTest, WhoTakesOverJoinsACallThatSomebodyMakesAlready) {
  const auto first = join("a");
  table.remove(*first.flight);
  const auto newcomer = join("a");
  const auto taken = table.take_over(*first.flight, woken.waker, 3);
  EXPECT_EQ(taken.role, Role::follow);
  EXPECT_EQ(taken.flight, newcomer.flight);
}

TEST_F(FlightTableTest, WhoTakesOverLooksAtAnAnswerThatArrived) {
  const auto first = join("a");
  table.remove(*first.flight);
  EXPECT_EQ(table.take_over(*first.flight, woken.waker, 3, [] { return true; }).role, Role::look);
}

TEST(Budget, GivesNoMoreThanItsLimit) {
  Budget budget(10);
  EXPECT_TRUE(budget.take(10));
  EXPECT_FALSE(budget.take(1));
  EXPECT_EQ(budget.taken(), 10u);
  budget.give_back(4);
  EXPECT_TRUE(budget.take(4));
  budget.set_limit(5);
  budget.give_back(5);
  EXPECT_FALSE(budget.take(1));
}

}  // namespace
}  // namespace brink::cache
