#include "router/first_byte_times.hpp"

#include <gtest/gtest.h>

namespace brink::router {
namespace {

using namespace std::chrono_literals;

void record(FirstByteTimes& times, int count, std::chrono::milliseconds took) {
  for (int i = 0; i < count; ++i) times.record(took);
}

void expect_about(const FirstByteTimes& times, double share, std::chrono::milliseconds wanted) {
  const auto found = times.percentile(share);
  ASSERT_TRUE(found);
  EXPECT_GE(*found, wanted);
  EXPECT_LE(*found, wanted * 116 / 100);
}

TEST(FirstByteTimes, KnowNothingBeforeThereAreSamples) {
  FirstByteTimes times;
  record(times, 19, 10ms);
  EXPECT_FALSE(times.percentile(0.95));
  record(times, 1, 10ms);
  EXPECT_TRUE(times.percentile(0.95));
}

TEST(FirstByteTimes, APercentileIsAtMostABucketTooHigh) {
  FirstByteTimes times;
  record(times, 90, 100ms);
  record(times, 8, 500ms);
  record(times, 2, 5000ms);
  expect_about(times, 0.5, 100ms);
  expect_about(times, 0.95, 500ms);
  expect_about(times, 0.99, 5000ms);
  expect_about(times, 1, 5000ms);
}

TEST(FirstByteTimes, TheOldIsForgotten) {
  FirstByteTimes times;
  record(times, 900, 1000ms);
  record(times, 5000, 10ms);
  expect_about(times, 0.95, 10ms);
}

TEST(FirstByteTimes, ExtremesStayInside) {
  FirstByteTimes times;
  record(times, 20, 0ms);
  EXPECT_EQ(times.percentile(0.95), 1ms);
  record(times, 2000, 100'000'000ms);
  EXPECT_TRUE(times.percentile(0.95));
}

}  // namespace
}  // namespace brink::router
