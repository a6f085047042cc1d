// Remembers purges for entries that arrive later: from another tier, from a fetch that began before the purge. What was
// stored at or before a purge of its group must not come back by a side door.
//
// Thread-safe: verdict() holds a shared lock, note() an exclusive one. Bounded: a record has a fixed size (a group is
// kept as a seeded hash; two groups with one hash cost a needless drop, never a wrong answer), and both limits below
// fold old records into one mark, "what was stored at or before T is dropped" (or stale, for soft purges). Folding
// never brings a purged entry back; its price is that entries which are older than the mark and were never purged are
// fetched again.
#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

#include "cache/entry.hpp"
#include "cache/memory/purge.hpp"

namespace brink::cache {

enum class Verdict : std::uint8_t {
  keep,
  stale,  // set `soft_purged`: it was purged softly
  drop,
};

struct PurgeLogOptions {
  std::size_t max_records = 100'000;  // about 150 bytes each
  // Records older than this are folded. As long as the longest life of an entry in the other tier, or entries that were
  // not purged are dropped.
  Duration horizon = std::chrono::hours(24);
  // How far ahead of this node's clock the time of a purge is believed. Later ones are cut, so that a node with a wrong
  // clock cannot disable the cache for years.
  Duration max_skew = std::chrono::minutes(1);
};

class PurgeLog {
 public:
  explicit PurgeLog(PurgeLogOptions options = {});

  // The same purge may come twice or out of order: the latest time counts. `now` is this node's time.
  void note(const Purge& what, bool soft, WallTime at, WallTime now);
  // `stored_at`: when its first node stored the entry (or last validated it). For a response that was just fetched:
  // when the request for it was sent, because the backend may have answered before the purge. To close the gap between
  // verdict() and MemoryStore::insert(), note a purge before purging the store, and ask for the verdict (again) after
  // the insert.
  Verdict verdict(const Entry& entry, WallTime stored_at) const;

  std::size_t records() const;

 private:
  using ByTime = std::multimap<WallTime, std::uint64_t>;
  // The latest purges of a group; `never` where there was none of the kind.
  static constexpr WallTime never = WallTime::min();
  struct Times {
    WallTime hard = never;
    WallTime soft = never;

    void add(const Times& other);
    Verdict verdict(WallTime stored_at) const;
  };
  struct Record {
    Times times;
    ByTime::iterator place;
  };

  std::uint64_t group(Purge::Kind kind, std::string_view text) const;
  Times times_of(Purge::Kind kind, std::string_view text) const;
  void fold_oldest();

  PurgeLogOptions options_;
  std::uint64_t seed_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, Record> records_;  // by group
  ByTime by_time_;                                     // the latest time of each record
  Times mark_;                                         // of everything: purges of all, and folded records
};

}  // namespace brink::cache
