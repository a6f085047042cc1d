#include "cache/memory/store.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <random>

#include "cache/memory/shard.hpp"

namespace brink::cache {

namespace {

// Each shard holds at least four of the largest objects, or a single one could empty it.
unsigned shards_for(const MemoryLimits& limits, unsigned max_shards) {
  const std::size_t most = limits.bytes / (4 * std::max<std::size_t>(limits.max_object, 1));
  return static_cast<unsigned>(std::bit_floor(std::clamp<std::size_t>(most, 1, max_shards)));
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace

MemoryStats& MemoryStats::operator+=(const MemoryStats& other) {
  entries += other.entries;
  bytes += other.bytes;
  hits += other.hits;
  misses += other.misses;
  insertions += other.insertions;
  evictions += other.evictions;
  expired += other.expired;
  purged += other.purged;
  rejected += other.rejected;
  return *this;
}

MemoryStore::MemoryStore(MemoryLimits limits, std::optional<std::uint64_t> seed) : seed_(seed ? *seed : random_seed()) {
  for (unsigned i = 0; i < max_shards; ++i) shards_.push_back(std::make_unique<Shard>(seed_));
  resize(limits);
}

MemoryStore::~MemoryStore() = default;

std::uint64_t MemoryStore::hash(std::string_view key) const {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
}

// By the highest bits; tables and the ghost use the others.
std::size_t MemoryStore::shard_of(std::uint64_t hash, unsigned shard_count) {
  return static_cast<std::size_t>((hash >> 32) * shard_count >> 32);
}

EntryPtr MemoryStore::find(std::string_view key, WallTime now) {
  if (largest() == 0) return nullptr;
  const std::uint64_t hashed = hash(key);
  return shards_[shard_of(hashed, shard_count_.load(std::memory_order_relaxed))]->find(hashed, key, now);
}

bool MemoryStore::insert(EntryPtr entry, Rejection* why) {
  const std::size_t allowed = largest();
  const unsigned count = shard_count_.load(std::memory_order_relaxed);
  Rejection rejection = Rejection::off;
  if (allowed != 0) {
    const std::uint64_t hashed = hash(entry->key);
    Shard& shard = *shards_[shard_of(hashed, count)];
    auto node = std::make_unique<Node>(std::move(entry), hashed);
    if (node->size <= allowed) {
      rejection = shard.insert(std::move(node), count);
    } else {
      rejection = Rejection::too_large;
      shard.reject();
    }
  }
  if (why != nullptr) *why = rejection;
  return rejection == Rejection::none;
}

bool MemoryStore::erase(std::string_view key) {
  const std::shared_lock lock(moving_);
  const std::uint64_t hashed = hash(key);
  return shards_[shard_of(hashed, shard_count_.load(std::memory_order_relaxed))]->erase(hashed, key);
}

void MemoryStore::clear() { purge({}, false); }

std::size_t MemoryStore::purge(const Purge& what, bool soft) {
  const std::shared_lock lock(moving_);
  std::size_t total = 0;
  for (const auto& shard : shards_) total += shard->purge(what, soft);
  return total;
}

void MemoryStore::resize(MemoryLimits limits) {
  const std::lock_guard lock(moving_);
  const unsigned count = shards_for(limits, max_shards);
  const std::size_t part = limits.bytes / count;
  Removed moving;
  if (count != shard_count_) {
    for (const auto& shard : shards_) shard->drain(moving);
    shard_count_ = count;
  }
  for (unsigned i = 0; i < max_shards; ++i) shards_[i]->resize(i < count ? part : 0, count);
  largest_ = std::min(limits.max_object, part);
  while (!moving.nodes.empty()) {
    Node& node = moving.nodes.front();
    moving.nodes.pop_front();
    shards_[shard_of(node.hash, count)]->insert(std::unique_ptr<Node>(&node), count, true);
  }
}

MemoryStats MemoryStore::stats() const {
  MemoryStats total;
  for (const auto& shard : shards_) total += shard->stats();
  return total;
}

std::size_t MemoryStore::largest() const { return largest_.load(std::memory_order_relaxed); }

}  // namespace brink::cache
