// What S3-FIFO keeps, and that the budget holds.
#include <gtest/gtest.h>
#include <malloc.h>

#include "cache/memory/store.hpp"
#include "tests/cache/memory/entries.hpp"
#include "tests/cache/memory/traces.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC ships no header for it
#endif

namespace brink::cache {
namespace {

constexpr std::size_t mebi = 1024 * 1024;

std::size_t heap_in_use() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

// Keys that come once. The stores have one shard here, for their largest object is as large as they are.
void flood(MemoryStore& store, const std::string& name, int count) {
  for (int i = 0; i < count; ++i) store.insert(make_entry({.key = name + std::to_string(i), .body = 1000}));
}

bool holds(MemoryStore& store, const std::string& key) { return store.find(key, start) != nullptr; }

TEST(Eviction, WhatIsAskedForAgainSurvivesAFlood) {
  MemoryStore store({200'000, 200'000});
  for (int i = 0; i < 20; ++i) store.insert(make_entry({.key = "hot" + std::to_string(i), .body = 1000}));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(holds(store, "hot" + std::to_string(i)));
  }
  flood(store, "once", 1000);
  EXPECT_GT(store.stats().evictions, 800U);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(holds(store, "hot" + std::to_string(i))) << i;
}

TEST(Eviction, WhatIsNotAskedForAgainLeavesFirst) {
  MemoryStore store({200'000, 200'000});
  store.insert(make_entry({.key = "hot", .body = 1000}));
  EXPECT_TRUE(holds(store, "hot"));
  EXPECT_TRUE(holds(store, "hot"));
  store.insert(make_entry({.key = "cold", .body = 1000}));
  flood(store, "once", 1000);
  EXPECT_TRUE(holds(store, "hot"));
  EXPECT_FALSE(holds(store, "cold"));
}

// One that left the small queue not long ago returns to the main queue, where the flood does not come.
TEST(Eviction, TheGhostRemembersWhatComesBack) {
  MemoryStore store({200'000, 200'000});
  store.insert(make_entry({.key = "back", .body = 1000}));
  flood(store, "a", 150);
  ASSERT_FALSE(holds(store, "back"));
  store.insert(make_entry({.key = "back", .body = 1000}));
  store.insert(make_entry({.key = "first time", .body = 1000}));
  flood(store, "b", 200);
  EXPECT_TRUE(holds(store, "back"));
  EXPECT_FALSE(holds(store, "first time"));
}

TEST(Eviction, AnUpdateKeepsItsPlace) {
  MemoryStore store({200'000, 200'000});
  store.insert(make_entry({.key = "hot", .body = 1000}));
  EXPECT_TRUE(holds(store, "hot"));
  EXPECT_TRUE(holds(store, "hot"));
  store.insert(make_entry({.key = "hot", .body = 1001}));
  flood(store, "once", 1000);
  EXPECT_TRUE(holds(store, "hot"));
}

// An insert spares 64 entries, then evicts the next, however popular: its work has a bound.
TEST(Eviction, RoomIsFoundWhereEverythingIsPopular) {
  constexpr std::size_t count = 1000;
  const std::size_t budget = count * make_entry({.key = "hot0", .body = 1000})->footprint();
  MemoryStore store({budget, budget});
  flood(store, "hot", count);
  ASSERT_EQ(store.stats().entries, count);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(holds(store, "hot" + std::to_string(i)));
  }
  store.insert(make_entry({.key = "new", .body = 1000}));
  EXPECT_EQ(store.stats().evictions, 1U);
  EXPECT_FALSE(holds(store, "hot64"));
  EXPECT_TRUE(holds(store, "new"));
  ASSERT_TRUE(store.insert(make_entry({.key = "large", .body = budget / 2})));
  EXPECT_TRUE(holds(store, "large"));
  EXPECT_LE(store.stats().bytes, budget);
  EXPECT_GT(store.stats().entries, count / 3);
}

// Large distinct objects, small ones, and a mix: neither the sum of the footprints nor the heap passes the budget.
TEST(Eviction, TheBudgetHoldsUnderAFlood) {
  constexpr std::size_t budget = 32 * mebi;
  struct Case {
    const char* name;
    std::size_t smallest, largest;
    int count;
  };
  for (const Case& flooded :
       {Case{"large", 900'000, 1'000'000, 500}, Case{"small", 0, 1, 100'000}, Case{"mixed", 100, 200'000, 3'000}}) {
    SCOPED_TRACE(flooded.name);
    const std::size_t before = heap_in_use();
    MemoryStore store({budget, mebi});
    std::uint64_t most = 0;
    for (int i = 0; i < flooded.count; ++i) {
      const std::string name = flooded.name + std::to_string(i);
      const std::size_t size = flooded.smallest + (i * 7919U) % (flooded.largest - flooded.smallest);
      store.insert(
          make_entry({.key = name, .body = size, .url = "http://host/" + name, .route = "chat", .model = "m"}));
      if (i % 256 == 0) most = std::max(most, store.stats().bytes);
    }
    EXPECT_LE(most, budget);
    EXPECT_GT(store.stats().bytes, budget * 8 / 10);
    EXPECT_LE(heap_in_use() - before, budget + budget / 10);
    EXPECT_GT(store.stats().evictions, 0U);
  }
}

TEST(Eviction, BeatsLruWhereAFifthOfTheObjectsComesOnce) {
  const Trace trace = zipf_trace({.alpha = 0.9, .objects = 5'000, .requests = 40'000, .once = 0.2, .seed = 42});
  for (const double part : {0.01, 0.05, 0.1, 0.25}) {
    const auto budget = static_cast<std::size_t>(part * static_cast<double>(trace.footprint()));
    EXPECT_GT(replay_store(trace, budget), replay_lru(trace, budget)) << part;
  }
}

}  // namespace
}  // namespace brink::cache
