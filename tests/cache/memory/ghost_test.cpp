#include "cache/memory/ghost.hpp"

#include <gtest/gtest.h>

namespace brink::cache {
namespace {

constexpr std::size_t window = 100'000;

// Hashes that differ in the bits that make the fingerprint.
std::uint64_t hash(std::uint64_t i) { return i * 0x9E3779B97F4A7C15U; }

TEST(Ghost, RemembersOnce) {
  Ghost ghost;
  ghost.reserve(100);
  ghost.add(hash(1), 1000);
  EXPECT_FALSE(ghost.take(hash(2), window));
  EXPECT_TRUE(ghost.take(hash(1), window));
  EXPECT_FALSE(ghost.take(hash(1), window));
}

TEST(Ghost, ForgetsAfterAWindowOfBytes) {
  Ghost ghost;
  ghost.reserve(100);
  ghost.add(hash(1), 1000);
  ghost.add(hash(2), 1000);
  ghost.add(hash(3), window - 500);
  EXPECT_FALSE(ghost.take(hash(1), window));
  EXPECT_TRUE(ghost.take(hash(2), window));
}

TEST(Ghost, ForgetsTheOldestWhenItIsFull) {
  Ghost ghost;
  ghost.reserve(64);
  for (std::uint64_t i = 1; i <= 10'000; ++i) ghost.add(hash(i), 1000);
  int old = 0, recent = 0;
  for (std::uint64_t i = 1; i <= 5'000; ++i) old += ghost.take(hash(i), 1'000'000'000) ? 1 : 0;
  for (std::uint64_t i = 9'981; i <= 10'000; ++i) recent += ghost.take(hash(i), 1'000'000'000) ? 1 : 0;
  EXPECT_EQ(old, 0);
  EXPECT_EQ(recent, 20);
}

TEST(Ghost, KeepsWhatItKnowsWhenItGrows) {
  Ghost ghost;
  ghost.reserve(10);
  for (std::uint64_t i = 1; i <= 10; ++i) ghost.add(hash(i), 1000);
  ghost.reserve(10'000);
  for (std::uint64_t i = 1; i <= 10; ++i) EXPECT_TRUE(ghost.take(hash(i), window)) << i;
}

TEST(Ghost, WithoutRoomNothingIsRemembered) {
  Ghost ghost;
  ghost.add(hash(1), 1000);
  EXPECT_FALSE(ghost.take(hash(1), window));
}

}  // namespace
}  // namespace brink::cache
