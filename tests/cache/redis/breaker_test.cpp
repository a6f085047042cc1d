#include "cache/redis/breaker.hpp"

#include <gtest/gtest.h>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1'000s};
constexpr double middle = 0.5;

Breaker opened() {
  Breaker breaker;
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(breaker.failure(start, middle));
  EXPECT_TRUE(breaker.failure(start, middle));
  return breaker;
}

TEST(RedisBreaker, OpensAfterFailuresInARowOnly) {
  Breaker breaker;
  for (int i = 0; i < 20; ++i) {
    breaker.failure(start, middle);
    if (i % 4 == 3) breaker.success();
  }
  EXPECT_TRUE(breaker.allow(start));
  EXPECT_FALSE(opened().allow(start + 999ms));
}

TEST(RedisBreaker, OneTrialThenClosed) {
  Breaker breaker = opened();
  EXPECT_FALSE(breaker.success()) << "an answer to an earlier command proves nothing";
  EXPECT_TRUE(breaker.allow(start + 1s));
  EXPECT_FALSE(breaker.allow(start + 1s));
  EXPECT_TRUE(breaker.success());
  EXPECT_TRUE(breaker.allow(start + 1s));
  EXPECT_TRUE(breaker.allow(start + 1s));
}

TEST(RedisBreaker, FailedTrialsDoubleThePauseUpToALimit) {
  Breaker breaker = opened();
  Time now = start;
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    EXPECT_EQ(breaker.pause(), expected);
    EXPECT_FALSE(breaker.allow(now + expected - 1ms));
    now += expected;
    ASSERT_TRUE(breaker.allow(now));
    EXPECT_TRUE(breaker.failure(now, middle));
  }
}

TEST(RedisBreaker, ATrialTakenBackLeavesRoomForAnother) {
  Breaker breaker = opened();
  EXPECT_TRUE(breaker.allow(start + 1s));
  breaker.take_back();
  EXPECT_TRUE(breaker.allow(start + 1s));
}

TEST(RedisBreaker, ASignOfLifeEndsThePause) {
  Breaker breaker = opened();
  breaker.hint(start + 1ms);
  EXPECT_TRUE(breaker.allow(start + 1ms));
  EXPECT_FALSE(breaker.allow(start + 1ms));
}

TEST(RedisBreaker, PausesAreSpread) {
  Breaker low, high;
  for (int i = 0; i < 5; ++i) {
    low.failure(start, 0.0);
    high.failure(start, 0.999);
  }
  EXPECT_EQ(low.pause(), 800ms);
  EXPECT_NEAR(static_cast<double>(high.pause().count()), 1'199, 1);
}

TEST(RedisBreaker, ReconnectsAtOnceThenEverLater) {
  EXPECT_EQ(reconnect_delay(0, middle), 0ms);
  EXPECT_EQ(reconnect_delay(1, 0.0), 50ms);
  EXPECT_EQ(reconnect_delay(2, 0.0), 100ms);
  EXPECT_EQ(reconnect_delay(1'000'000, 0.0), 2'500ms);
  EXPECT_LE(reconnect_delay(1'000'000, 1.0), 5'000ms);
}

}  // namespace
}  // namespace brink::cache::redis
