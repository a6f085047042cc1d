#include "cache/redis/pipeline.hpp"

#include <gtest/gtest.h>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;
using Match = Pipeline::Match;
using Ids = std::vector<Pipeline::Id>;

constexpr Time start{1'000s};

Wire wire(std::string_view text) { return Wire(std::span(&text, 1)); }

std::string take(Pipeline& pipeline, Time now = start) {
  const auto batch = pipeline.take(now);
  std::string text(batch.bytes);
  return text;
}

TEST(RedisPipeline, CommandsGoOutTogetherAndRepliesFindThemInOrder) {
  Pipeline pipeline(10, 1'000);
  for (Pipeline::Id id = 1; id <= 3; ++id) ASSERT_TRUE(pipeline.push(id, wire("x"), 1, start + 1s));
  const std::string one(wire("x").view());
  EXPECT_EQ(take(pipeline), one + one + one);
  EXPECT_EQ(take(pipeline), "");
  ASSERT_TRUE(pipeline.push(4, wire("x"), 1, start + 1s));
  Pipeline::Id id = 0;
  for (Pipeline::Id expected = 1; expected <= 3; ++expected) {
    EXPECT_EQ(pipeline.match(id), Match::answer);
    EXPECT_EQ(id, expected);
  }
  EXPECT_EQ(pipeline.match(id), Match::unexpected) << "4 was not sent";
}

TEST(RedisPipeline, ALargeCommandGoesByItself) {
  Pipeline pipeline(10, 1'000'000);
  const std::string large(100'000, 'x');
  ASSERT_TRUE(pipeline.push(1, wire("a"), 1, start));
  ASSERT_TRUE(pipeline.push(2, wire(large), 1, start));
  ASSERT_TRUE(pipeline.push(3, wire("b"), 1, start));
  EXPECT_EQ(take(pipeline), wire("a").view());
  EXPECT_EQ(take(pipeline), wire(large).view());
  EXPECT_EQ(take(pipeline), wire("b").view());
}

TEST(RedisPipeline, ALateReplyIsSkippedInItsPlace) {
  Pipeline pipeline(10, 1'000);
  pipeline.push(1, wire("x"), 1, start + 25ms);
  pipeline.push(2, wire("x"), 1, start + 50ms);
  take(pipeline);
  EXPECT_EQ(pipeline.next_wake(250ms), start + 25ms);
  EXPECT_EQ(pipeline.expire(start + 24ms), Ids{});
  EXPECT_EQ(pipeline.expire(start + 25ms), Ids{1});
  EXPECT_EQ(pipeline.in_flight(), 2U);
  Pipeline::Id id = 0;
  EXPECT_EQ(pipeline.match(id), Match::skip);
  EXPECT_EQ(pipeline.match(id), Match::answer);
  EXPECT_EQ(id, 2U);
}

TEST(RedisPipeline, WhatExpiresUnsentIsNeverSent) {
  Pipeline pipeline(10, 1'000);
  pipeline.push(1, wire("old"), 1, start + 25ms);
  pipeline.push(2, wire("new"), 1, start + 50ms);
  EXPECT_EQ(pipeline.expire(start + 30ms), Ids{1});
  EXPECT_EQ(pipeline.in_flight(), 1U);
  EXPECT_EQ(take(pipeline), wire("new").view());
}

TEST(RedisPipeline, AReplyThatNeverComesMakesItOverdue) {
  Pipeline pipeline(10, 1'000);
  pipeline.push(1, wire("x"), 1, start + 25ms);
  EXPECT_FALSE(pipeline.overdue(start + 1h, 250ms)) << "nothing was sent";
  take(pipeline, start);
  pipeline.expire(start + 25ms);
  EXPECT_EQ(pipeline.next_wake(250ms), start + 250ms);
  EXPECT_FALSE(pipeline.overdue(start + 249ms, 250ms));
  EXPECT_TRUE(pipeline.overdue(start + 250ms, 250ms));
}

TEST(RedisPipeline, CommandsAndBytesAreBounded) {
  Pipeline few(2, 1'000);
  EXPECT_TRUE(few.push(1, wire("x"), 1, start));
  EXPECT_TRUE(few.push(2, wire("x"), 1, start));
  EXPECT_FALSE(few.push(3, wire("x"), 1, start));
  few.expire(start);
  EXPECT_TRUE(few.push(3, wire("x"), 1, start + 1s)) << "what expired unsent makes room";
  take(few);
  few.expire(start + 1s);
  EXPECT_TRUE(few.push(4, wire("x"), 1, start + 2s));
  EXPECT_FALSE(few.push(5, wire("x"), 1, start + 2s)) << "a late command still takes its place";

  Pipeline small(100, 250);
  const std::string hundred(100, 'x');
  EXPECT_FALSE(small.push(1, wire(std::string(300, 'x')), 1, start));
  EXPECT_TRUE(small.push(1, wire(hundred), 1, start));
  EXPECT_TRUE(small.push(2, wire(hundred), 1, start));
  EXPECT_FALSE(small.push(3, wire(hundred), 1, start));
  take(small);
  EXPECT_FALSE(small.push(3, wire(hundred), 1, start)) << "bytes count until they are written";
  small.written();
  EXPECT_TRUE(small.push(3, wire(hundred), 1, start));
}

TEST(RedisPipeline, OnlyTheLastOfSeveralRepliesCounts) {
  Pipeline pipeline(10, 1'000);
  pipeline.push(1, wire("asking").followed_by(wire("x")), 2, start);
  take(pipeline);
  Pipeline::Id id = 0;
  EXPECT_EQ(pipeline.match(id), Match::skip);
  EXPECT_EQ(pipeline.match(id), Match::answer);
  EXPECT_EQ(id, 1U);
}

TEST(RedisPipeline, ALossEndsWhatWasSentAndKeepsTheRestIfWanted) {
  Pipeline pipeline(10, 1'000);
  pipeline.push(1, wire("a"), 1, start + 1s);
  take(pipeline);
  pipeline.push(2, wire("b"), 1, start + 1s);
  EXPECT_EQ(pipeline.clear(true), Ids{1});
  EXPECT_EQ(take(pipeline), wire("b").view());
  pipeline.push(3, wire("c"), 1, start + 1s);
  EXPECT_EQ(pipeline.clear(false), (Ids{2, 3}));
  EXPECT_EQ(pipeline.in_flight(), 0U);
  EXPECT_EQ(pipeline.next_wake(1s), Time::max());
}

}  // namespace
}  // namespace brink::cache::redis
