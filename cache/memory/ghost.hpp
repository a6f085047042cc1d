// The ghost queue of S3-FIFO: fingerprints of entries that left the small queue not long ago. One that comes back goes
// to the main queue at once.
//
// Not a queue but a set-associative table, as the paper proposes: a slot holds a fingerprint and when, counted in
// evicted bytes, it was put there; it is forgotten once as many bytes as the main queue holds were evicted after it. A
// full set overwrites its oldest slot. Fingerprints have 32 bits: a false match puts an entry into the wrong queue,
// nothing else. Eight bytes a slot, one cache line a set. Not thread-safe: belongs to a shard.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace brink::cache {

class Ghost {
 public:
  void add(std::uint64_t hash, std::size_t bytes);
  // Whether it was there, no more than `window` evicted bytes ago. Forgets it.
  bool take(std::uint64_t hash, std::size_t window);
  // Makes room for so many fingerprints. Never shrinks but by clear().
  void reserve(std::size_t entries);
  void clear();

 private:
  struct Slot {
    std::uint32_t fingerprint = 0;  // 0: empty
    std::uint32_t time = 0;
  };
  using Set = std::array<Slot, 8>;

  std::uint32_t time() const { return static_cast<std::uint32_t>(evicted_ / unit); }
  Set& set(std::uint32_t fingerprint) { return sets_[fingerprint & (sets_.size() - 1)]; }
  void put(Slot slot);

  static constexpr std::size_t unit = 256;  // bytes; smaller than any entry. The time wraps after 1 TiB
  std::vector<Set> sets_;                   // a power of two, or empty
  std::uint64_t evicted_ = 0;
};

}  // namespace brink::cache
