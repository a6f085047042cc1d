// What crosses threads; TSan and ASan look on.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "cache/memory/purge_log.hpp"
#include "cache/memory/store.hpp"
#include "tests/cache/memory/entries.hpp"

namespace brink::cache {
namespace {

constexpr std::size_t mebi = 1024 * 1024;

void run(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (std::thread& thread : running) thread.join();
}

void one_step(MemoryStore& store, std::mt19937& random, std::atomic<int>& wrong) {
  const std::string key = "key" + std::to_string(random() % 500);
  const unsigned dice = random() % 1000;
  if (dice < 600) {
    const EntryPtr found = store.find(key, start);
    if (found != nullptr && (found->key != key || found->body.size() != key.size() * 100)) ++wrong;
  } else if (dice < 950) {
    store.insert(
        make_entry({.key = key, .body = key.size() * 100, .url = key, .tags = {"t" + key.substr(0, 5), "all"}}));
  } else if (dice < 985) {
    store.purge({Purge::Kind::tag, "t" + key.substr(0, 5)}, dice % 2 == 0);
  } else if (dice < 996) {
    store.erase(key);
  } else if (dice == 996) {
    store.clear();
  } else {
    store.resize({dice == 997 ? 0 : mebi / 4, dice == 998 ? std::size_t{4096} : mebi / 4});
  }
}

TEST(Threads, TheStoreStaysWhole) {
  MemoryStore store({mebi / 4, 8192});
  std::atomic<int> wrong{0};
  run(4, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    for (int i = 0; i < 5000; ++i) one_step(store, random, wrong);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(store.stats().bytes, mebi / 4);
  store.clear();
  EXPECT_EQ(store.stats().entries, 0U);
  EXPECT_EQ(store.stats().bytes, 0U);
}

// Calls step() while another thread changes the number of shards, 150 times, each after another step.
void while_resizing(MemoryStore& store, const std::function<void()>& step) {
  std::atomic<bool> done{false};
  std::atomic<int> steps{0};
  run(2, [&](int number) {
    if (number == 0) {
      for (; !done; ++steps) step();
      return;
    }
    for (int i = 0; i < 150; ++i) {
      for (const int before = steps; steps == before;) std::this_thread::yield();
      store.resize({4 * mebi, i % 2 == 0 ? 4 * mebi : 16384});
    }
    done = true;
  });
}

// A resize that changes the number of shards must leave one entry a key, the newest.
TEST(Threads, AResizeBringsNoOldEntryBack) {
  MemoryStore store({4 * mebi, 16384});
  for (int i = 0; i < 500; ++i) store.insert(make_entry({.key = "filler" + std::to_string(i)}));
  while_resizing(store, [&] {
    const EntryPtr entry = make_entry({.key = "k"});
    if (!store.insert(entry)) return;
    for (int again = 0; again < 30; ++again) {
      const EntryPtr found = store.find("k", start);
      EXPECT_TRUE(found == nullptr || found == entry);
    }
  });
  EXPECT_LE(store.stats().entries, 501U);
}

// Entries on their way to another shard are purged and erased all the same.
TEST(Threads, NothingEscapesAPurgeInAResize) {
  MemoryStore store({4 * mebi, 16384});
  int escaped = 0;
  while_resizing(store, [&] {
    store.insert(make_entry({.key = "erased"}));
    store.insert(make_entry({.key = "purged", .tags = {"t"}}));
    store.erase("erased");
    store.purge({Purge::Kind::tag, "t"}, false);
    if (store.find("erased", start) != nullptr || store.find("purged", start) != nullptr) ++escaped;
  });
  EXPECT_EQ(escaped, 0);
  EXPECT_EQ(store.stats().entries, 0U);
}

TEST(Threads, TheLogGivesVerdictsWhileItIsWritten) {
  PurgeLog log({.max_records = 50});
  const EntryPtr entry = make_entry({.key = "k", .url = "7"});
  log.note({Purge::Kind::url, "7"}, false, start, start);
  std::atomic<int> wrong{0};
  run(4, [&](int number) {
    for (int i = 0; i < 2000; ++i) {
      log.note({Purge::Kind::url, std::to_string(i * 4 + number)}, false, start, start);
      if (log.verdict(*entry, start) != Verdict::drop) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(log.records(), 50U);
}

}  // namespace
}  // namespace brink::cache
