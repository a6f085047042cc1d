// A stored response as bytes that other nodes, other versions of Brink and strangers' tools may have written. Functions
// without state; any thread.
//
// Layout, all numbers 64-bit little endian:
//   0 magic "BRINKENT"   8 version, and in its top byte the flags   16 size of the payload once decompressed
//   24 XXH3-64 of the bytes 0..24 and of what follows at 32   32 the payload, as one zstd frame where flag 1 is set
// Payload: stored_at, the members of Entry in the order of codec.cpp; a text is its length and its bytes, a list its
// length and its items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/entry.hpp"

namespace brink::cache::redis {

// `stored_at`: the time of this write, by this node's wall clock. `entry.soft_purged` is not kept.
// REQUIRES: times and durations from 0 to 1000 years, at most 65,536 tags, status below 1000: decode() takes no others.
std::string encode(const Entry& entry, WallTime stored_at);

enum class DecodeError : std::uint8_t {
  none,
  truncated,
  foreign,    // not written by Brink
  version,    // by another version of Brink
  too_large,  // says that it is larger than allowed
  corrupt,
};
std::string_view to_string(DecodeError error);

struct Decoded {
  DecodeError error = DecodeError::none;
  EntryPtr entry;  // set without an error
  WallTime stored_at{};
};

// Takes any bytes. Nothing larger than `max_size` (bytes of the decompressed payload, and of the decompressed body) is
// allocated. The caller compares entry->key with the key it asked for.
Decoded decode(std::string_view bytes, std::size_t max_size);

// The prefix and the SHA-256 of the key's text in hex: short, of one length, and without the text itself.
std::string redis_key(std::string_view prefix, std::string_view key_text);

}  // namespace brink::cache::redis
