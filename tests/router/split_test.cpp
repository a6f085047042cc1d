#include "router/split.hpp"

#include <gtest/gtest.h>

#include <random>

namespace brink::router {
namespace {

TEST(Split, FollowsTheWeights) {
  const std::vector<conf::SplitConfig> clusters{{"stable", 95}, {"dark", 0}, {"canary", 5}};
  std::mt19937_64 random(7);
  int count[3] = {};
  for (int i = 0; i < 100'000; ++i) ++count[choose_cluster(clusters, random())];
  EXPECT_NEAR(count[0], 95'000, 300);
  EXPECT_EQ(count[1], 0);
  EXPECT_NEAR(count[2], 5'000, 300);
}

TEST(Split, CoversEveryRemainderOfTheRandomNumber) {
  const std::vector<conf::SplitConfig> clusters{{"a", 1}, {"b", 2}};
  EXPECT_EQ(choose_cluster(clusters, 0), 0);
  EXPECT_EQ(choose_cluster(clusters, 1), 1);
  EXPECT_EQ(choose_cluster(clusters, 2), 1);
  EXPECT_EQ(choose_cluster(clusters, 3), 0);
  EXPECT_EQ(choose_cluster(clusters, ~0ull), 0);  // 2^64 - 1 is divisible by 3
}

TEST(Split, HasNoAnswerWithoutWeight) {
  EXPECT_EQ(choose_cluster({}, 1), -1);
  const std::vector<conf::SplitConfig> off{{"a", 0}, {"b", 0}};
  EXPECT_EQ(choose_cluster(off, 1), -1);
}

}  // namespace
}  // namespace brink::router
