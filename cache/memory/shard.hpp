// One part of a MemoryStore: a table, the two queues of S3-FIFO, the ghost and the purge index under one lock. Only
// MemoryStore uses it, from any thread.
//
// S3-FIFO by bytes. A new entry enters the small queue, or the main queue if the ghost remembers it. For want of room
// the oldest of the small queue goes while that holds more than a tenth: to the main queue if it was found twice or
// more, else out, leaving a fingerprint in the ghost. Otherwise the oldest of the main queue goes, unless it was found:
// then it returns to the front with one use less. A call spares at most `max_spared` entries, so an insert does work in
// proportion to what it displaces, whatever the counters say.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "cache/memory/chain_table.hpp"
#include "cache/memory/ghost.hpp"
#include "cache/memory/node.hpp"
#include "cache/memory/purge_index.hpp"
#include "cache/memory/store.hpp"

namespace brink::cache {

class alignas(64) MemoryStore::Shard {
 public:
  explicit Shard(std::uint64_t seed) : index_(seed) {}
  ~Shard() { drain(); }

  EntryPtr find(std::uint64_t hash, std::string_view key, WallTime now);
  // `shard_count`: by which the caller chose this shard. If it is not that of resize(), the entry belongs elsewhere:
  // off. A node that comes from drain() is not a new insertion, and gives way to what has its key by now.
  Rejection insert(std::unique_ptr<Node> node, unsigned shard_count, bool moved = false);
  bool erase(std::uint64_t hash, std::string_view key);
  std::size_t purge(const Purge& what, bool soft);
  // 0 bytes: not in use, nothing may come in.
  void resize(std::size_t bytes, unsigned shard_count);
  // Moves everything to `removed`, oldest first. Nothing may come in until resize().
  void drain(Removed& removed);
  void reject();
  MemoryStats stats() const;

 private:
  Node* lookup(std::uint64_t hash, std::string_view key) const;
  void link(Node& node);
  void unlink(Node& node);
  void remove(Node& node, Removed& removed);
  void make_room(std::size_t bytes, std::size_t max_evictions, Removed& removed);
  void evict_one(unsigned& spared, Removed& removed);
  void spare(Node& node, std::uint8_t uses);
  std::size_t purge_some(const Purge& what, Removed& removed);
  std::size_t soft_purge(const Purge& what);
  std::size_t bytes() const { return small_bytes_ + main_bytes_; }
  void drain();

  static constexpr unsigned max_spared = 64;
  static constexpr std::size_t batch = 1024;  // entries that long work takes before it gives the lock back

  mutable std::mutex mutex_;
  ChainTable<Node> table_;
  NodeList small_;  // newest first
  NodeList main_;
  std::size_t small_bytes_ = 0;
  std::size_t main_bytes_ = 0;
  std::size_t budget_ = 0;
  unsigned shard_count_ = 0;
  Ghost ghost_;
  PurgeIndex index_;
  MemoryStats counts_;  // all but entries and bytes
};

}  // namespace brink::cache
