#include "cache/memory/ghost.hpp"

#include <bit>
#include <utility>

namespace brink::cache {

namespace {

// The bits that choose neither a shard (the highest) nor a bucket of a small table (the lowest).
std::uint32_t fingerprint_of(std::uint64_t hash) {
  const auto fingerprint = static_cast<std::uint32_t>(hash >> 20);
  return fingerprint == 0 ? 1 : fingerprint;
}

}  // namespace

void Ghost::add(std::uint64_t hash, std::size_t bytes) {
  evicted_ += bytes;
  if (!sets_.empty()) put({fingerprint_of(hash), time()});
}

void Ghost::put(Slot added) {
  Slot* chosen = nullptr;
  const auto age = [now = time()](const Slot& slot) { return now - slot.time; };
  for (Slot& slot : set(added.fingerprint)) {
    if (slot.fingerprint == 0 || slot.fingerprint == added.fingerprint) {
      chosen = &slot;
      break;
    }
    if (chosen == nullptr || age(slot) > age(*chosen)) chosen = &slot;
  }
  *chosen = added;
}

bool Ghost::take(std::uint64_t hash, std::size_t window) {
  if (sets_.empty()) return false;
  const std::uint32_t fingerprint = fingerprint_of(hash);
  for (Slot& slot : set(fingerprint)) {
    if (slot.fingerprint != fingerprint) continue;
    const std::uint32_t age = time() - slot.time;
    slot = {};
    return age <= window / unit;
  }
  return false;
}

void Ghost::reserve(std::size_t entries) {
  constexpr std::size_t ways = std::tuple_size_v<Set>;
  // Half as many again, for sets are not filled evenly.
  const std::size_t needed = entries + entries / 2;
  if (needed <= sets_.size() * ways) return;
  const std::vector<Set> old = std::exchange(sets_, std::vector<Set>(std::bit_ceil(needed / ways + 1)));
  for (const Set& from : old) {
    for (const Slot& slot : from) {
      if (slot.fingerprint != 0) put(slot);
    }
  }
}

void Ghost::clear() { sets_ = {}; }

}  // namespace brink::cache
