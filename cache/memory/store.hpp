// The tier in this process: responses by key within a budget of bytes, shared by all workers. Decides nothing about
// freshness; it finds, keeps what is asked for again, and purges.
//
// Eviction is S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023) by bytes: new entries
// go through a small queue and leave it soon unless asked for again, so that a flood of prompts that come once does not
// displace what is popular.
//
// Thread-safe, every member. The key space is split into shards by a seeded hash; each has a lock, held for one look-up
// in find(), and its part of the budget. Entries are freed after the lock is given back. The hash is seeded at random:
// whoever chooses URLs cannot choose a shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "cache/entry.hpp"
#include "cache/memory/purge.hpp"

namespace brink::cache {

// The tier is off if either is 0.
struct MemoryLimits {
  std::size_t bytes = 0;       // for all entries, by Entry::footprint()
  std::size_t max_object = 0;  // the largest footprint of one entry; at most what one shard holds
};

struct MemoryStats {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;  // those who met an expired entry included
  std::uint64_t insertions = 0;
  std::uint64_t evictions = 0;  // for want of room
  std::uint64_t expired = 0;    // dropped by find() because their use had ended
  std::uint64_t purged = 0;     // hard and soft
  std::uint64_t rejected = 0;   // too large; while the tier is off, nothing is counted

  MemoryStats& operator+=(const MemoryStats& other);
};

enum class Rejection : std::uint8_t {
  none,
  too_large,
  off,  // or just being resized
};

class MemoryStore {
 public:
  explicit MemoryStore(MemoryLimits limits, std::optional<std::uint64_t> seed = std::nullopt);
  ~MemoryStore();
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // The entry with exactly this key, or nullptr. No allocation. An entry whose `useful_until` is before `now` is
  // dropped and not returned; a soft-purged one is returned. Counts as an access for eviction.
  EntryPtr find(std::string_view key, WallTime now);

  // Replaces an entry of the same key in one step. REQUIRES: entry is not null and is not changed any more.
  // False when it was not stored; `why`, if given, says why (an older entry of that key then stays).
  bool insert(EntryPtr entry, Rejection* why = nullptr);
  bool erase(std::string_view key);  // false: there was none
  void clear();

  // Marks (soft) or removes (hard) the entries of a group; returns how many. Costs what it finds, not what is stored.
  // A long hard purge gives the lock back now and then; what is inserted meanwhile may go too.
  std::size_t purge(const Purge& what, bool soft);

  // For a reload. Entries stay as far as they fit. More or fewer shards may become right: a find() that runs at the
  // same time may then miss.
  void resize(MemoryLimits limits);

  MemoryStats stats() const;
  std::size_t largest() const;  // the largest footprint that is accepted now; 0 while off

 private:
  class Shard;

  std::uint64_t hash(std::string_view key) const;
  static std::size_t shard_of(std::uint64_t hash, unsigned shard_count);

  static constexpr unsigned max_shards = 64;
  const std::uint64_t seed_;
  std::vector<std::unique_ptr<Shard>> shards_;  // max_shards; those in use come first
  std::atomic<unsigned> shard_count_{1};
  std::atomic<std::size_t> largest_{0};
  std::shared_mutex moving_;  // exclusive while entries are between two shards, where no purge finds them
};

}  // namespace brink::cache
