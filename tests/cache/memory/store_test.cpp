#include "cache/memory/store.hpp"

#include <gtest/gtest.h>

#include "tests/cache/memory/entries.hpp"

namespace brink::cache {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mebi = 1024 * 1024;

TEST(MemoryStore, FindsWhatWasInsertedByItsExactKey) {
  MemoryStore store({mebi, mebi});
  const EntryPtr entry = make_entry({.key = "GET http://a/"});
  ASSERT_TRUE(store.insert(entry));
  EXPECT_EQ(store.find("GET http://a/", start), entry);
  EXPECT_EQ(store.find("GET http://a", start), nullptr);
  EXPECT_EQ(store.find("get http://a/", start), nullptr);
  EXPECT_EQ(store.find("", start), nullptr);
  EXPECT_EQ(store.stats().hits, 1U);
  EXPECT_EQ(store.stats().misses, 3U);
}

TEST(MemoryStore, ReplacesAnEntryOfTheSameKey) {
  MemoryStore store({mebi, mebi});
  const EntryPtr old = make_entry({.key = "k", .body = 5000, .tags = {"old"}});
  const EntryPtr fresh = make_entry({.key = "k", .body = 300, .tags = {"new"}});
  store.insert(old);
  store.insert(fresh);
  EXPECT_EQ(store.find("k", start), fresh);
  EXPECT_EQ(store.stats().entries, 1U);
  EXPECT_EQ(store.stats().bytes, fresh->footprint());
  EXPECT_EQ(store.purge({Purge::Kind::tag, "old"}, false), 0U);
  EXPECT_EQ(store.purge({Purge::Kind::tag, "new"}, false), 1U);
}

TEST(MemoryStore, DropsAnEntryWhoseUseHasEnded) {
  MemoryStore store({mebi, mebi});
  store.insert(make_entry({.key = "k", .useful_until = start + 10s}));
  EXPECT_NE(store.find("k", start + 10s), nullptr);
  EXPECT_EQ(store.find("k", start + 10s + 1ms), nullptr);
  EXPECT_EQ(store.stats().entries, 0U);
  EXPECT_EQ(store.stats().bytes, 0U);
  EXPECT_EQ(store.stats().expired, 1U);
  EXPECT_EQ(store.stats().evictions, 0U);
}

TEST(MemoryStore, RejectsWhatIsTooLargeAndSaysSo) {
  MemoryStore store({mebi, 10'000});
  const EntryPtr old = make_entry({.key = "k"});
  store.insert(old);
  Rejection why = Rejection::none;
  EXPECT_FALSE(store.insert(make_entry({.key = "k", .body = 10'000}), &why));
  EXPECT_EQ(why, Rejection::too_large);
  EXPECT_EQ(store.stats().rejected, 1U);
  EXPECT_EQ(store.find("k", start), old);
  EXPECT_TRUE(store.insert(make_entry({.key = "k", .body = 8'000}), &why));
  EXPECT_EQ(why, Rejection::none);
}

TEST(MemoryStore, NeverAcceptsMoreThanItsBudget) {
  MemoryStore store({10'000, mebi});
  EXPECT_EQ(store.largest(), 10'000U);
  EXPECT_FALSE(store.insert(make_entry({.key = "k", .body = 10'000})));
}

TEST(MemoryStore, IsOffWithoutABudget) {
  MemoryStore store({0, mebi});
  Rejection why = Rejection::none;
  EXPECT_FALSE(store.insert(make_entry({.key = "k"}), &why));
  EXPECT_EQ(why, Rejection::off);
  EXPECT_EQ(store.find("k", start), nullptr);
  EXPECT_EQ(store.stats().misses, 0U);
  EXPECT_EQ(store.largest(), 0U);
}

TEST(MemoryStore, ErasesAndClears) {
  MemoryStore store({mebi, 1000});
  for (int i = 0; i < 100; ++i) store.insert(make_entry({.key = std::to_string(i)}));
  EXPECT_TRUE(store.erase("7"));
  EXPECT_FALSE(store.erase("7"));
  EXPECT_EQ(store.find("7", start), nullptr);
  EXPECT_EQ(store.stats().entries, 99U);
  store.clear();
  EXPECT_EQ(store.stats().entries, 0U);
  EXPECT_EQ(store.stats().bytes, 0U);
  EXPECT_EQ(store.find("8", start), nullptr);
}

TEST(MemoryStore, AnEntryOutlivesItsPlaceInTheStore) {
  MemoryStore store({mebi, mebi});
  store.insert(make_entry({.key = "k", .body = 5}));
  const EntryPtr held = store.find("k", start);
  store.clear();
  EXPECT_EQ(held->body, "xxxxx");
}

// The number of shards follows from the budget and the largest object: 64, then 16, then 64 again, then one.
TEST(MemoryStore, KeepsEntriesWhenTheNumberOfShardsChanges) {
  MemoryStore store({16 * mebi, 64 * 1024});
  for (int i = 0; i < 500; ++i) store.insert(make_entry({.key = std::to_string(i), .tags = {"t"}}));
  const std::uint64_t bytes = store.stats().bytes;
  for (const std::size_t largest : {std::size_t{256 * 1024}, std::size_t{64 * 1024}, 16 * mebi}) {
    store.resize({16 * mebi, largest});
    EXPECT_EQ(store.largest(), largest);
    for (int i = 0; i < 500; ++i) ASSERT_NE(store.find(std::to_string(i), start), nullptr);
    EXPECT_EQ(store.stats().bytes, bytes);
    EXPECT_EQ(store.stats().insertions, 500U);
  }
  EXPECT_EQ(store.purge({Purge::Kind::tag, "t"}, false), 500U);
}

TEST(MemoryStore, AShrunkBudgetHoldsAtOnce) {
  MemoryStore store({16 * mebi, 64 * 1024});
  for (int i = 0; i < 1000; ++i) store.insert(make_entry({.key = std::to_string(i), .body = 5000}));
  ASSERT_EQ(store.stats().entries, 1000U);
  store.resize({mebi, 4 * 1024});  // as many shards
  EXPECT_LE(store.stats().bytes, mebi);
  EXPECT_GT(store.stats().bytes, mebi / 2);
  store.resize({mebi / 2, mebi});  // one shard
  EXPECT_LE(store.stats().bytes, mebi / 2);
  EXPECT_GT(store.stats().bytes, mebi / 4);
  store.resize({0, 0});
  EXPECT_EQ(store.stats().entries, 0U);
  store.resize({mebi, mebi});
  EXPECT_TRUE(store.insert(make_entry({.key = "again"})));
  EXPECT_NE(store.find("again", start), nullptr);
}

}  // namespace
}  // namespace brink::cache
