#include "tests/sim/kv_cache.hpp"

#include <ranges>

namespace brink::sim {

std::uint32_t KvCache::match(std::span<const BlockHash> chain) const {
  std::uint32_t count = 0;
  while (count < chain.size() && held_.contains(chain[count])) ++count;
  return count;
}

std::optional<std::uint32_t> KvCache::acquire(std::span<const BlockHash> chain, std::uint32_t own) {
  std::uint64_t needed = own;
  for (const BlockHash hash : chain) {
    const auto found = held_.find(hash);
    if (found == held_.end() || found->second.users == 0) ++needed;
  }
  if (in_use() + needed > capacity_) return std::nullopt;

  const std::uint32_t hits = match(chain);
  // Claim what is held before making room, or the room could be made from this very prefix.
  for (const BlockHash hash : chain) {
    const auto found = held_.find(hash);
    if (found == held_.end()) continue;
    if (found->second.users++ == 0) unused_.erase(found->second.place);
  }
  for (const BlockHash hash : chain) {
    if (held_.contains(hash)) continue;
    make_room();
    held_[hash].users = 1;
  }
  for (std::uint32_t i = 0; i < own; ++i) {
    make_room();
    ++own_;
  }
  return hits;
}

void KvCache::release(std::span<const BlockHash> chain, std::uint32_t own) {
  for (const BlockHash hash : std::views::reverse(chain)) {
    Block& block = held_.at(hash);
    if (--block.users > 0) continue;
    unused_.push_front(hash);
    block.place = unused_.begin();
  }
  own_ -= own;
}

void KvCache::drop_unused() {
  for (const BlockHash hash : unused_) held_.erase(hash);
  unused_.clear();
}

void KvCache::make_room() {
  if (held_.size() + own_ < capacity_) return;
  held_.erase(unused_.back());
  unused_.pop_back();
}

}  // namespace brink::sim
