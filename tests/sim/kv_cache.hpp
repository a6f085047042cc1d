// The KV memory of one simulated engine: a fixed number of blocks of 16 tokens, shared between requests whose prompts
// begin alike. A prompt is a chain of block hashes, each hash covering everything before it, so equal hashes mean equal
// prefixes.
//
// Blocks nobody uses stay readable until their room is needed; the least recently used goes first, and of one prompt
// the tail goes before the head, so what remains is always a usable prefix. Single-threaded, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>

namespace brink::sim {

using BlockHash = std::uint64_t;

constexpr std::uint32_t block_tokens = 16;

class KvCache {
 public:
  explicit KvCache(std::uint32_t capacity) : capacity_(capacity) {}

  // How many leading blocks of the chain are held.
  std::uint32_t match(std::span<const BlockHash> chain) const;

  // Claims the chain and `own` further blocks that are never shared (a partial prompt block, the output). Returns how
  // many leading blocks were already held; nothing when the room does not suffice, and then nothing has changed.
  std::optional<std::uint32_t> acquire(std::span<const BlockHash> chain, std::uint32_t own);

  // REQUIRES: one call for each successful acquire, with the same arguments.
  void release(std::span<const BlockHash> chain, std::uint32_t own);

  // Forgets every block nobody uses.
  void drop_unused();

  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t in_use() const { return static_cast<std::uint32_t>(held_.size() - unused_.size()) + own_; }

 private:
  struct Block {
    std::uint32_t users = 0;
    std::list<BlockHash>::iterator place{};  // in unused_, valid while users == 0
  };

  void make_room();  // for one block

  std::uint32_t capacity_;
  std::uint32_t own_ = 0;
  std::unordered_map<BlockHash, Block> held_;
  std::list<BlockHash> unused_;  // most recently released first
};

}  // namespace brink::sim
