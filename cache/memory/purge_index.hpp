// From what a purge names to the entries of one shard, so that a purge touches these alone. Linking a node costs a
// look-up for each of its groups, and memory for those that are new. Not thread-safe: belongs to a shard.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <string_view>

#include "cache/memory/chain_table.hpp"
#include "cache/memory/node.hpp"

namespace brink::cache {

struct Group {
  std::uint64_t hash = 0;
  Group* next_in_bucket = nullptr;
  Purge::Kind kind = Purge::Kind::all;
  boost::intrusive::list<Membership, boost::intrusive::constant_time_size<false>> members;  // never empty
};

class PurgeIndex {
 public:
  // Seeded, for clients choose URLs.
  explicit PurgeIndex(std::uint64_t seed) : seed_(seed) {}
  PurgeIndex(const PurgeIndex&) = delete;
  PurgeIndex& operator=(const PurgeIndex&) = delete;

  // A text that an entry names twice counts once.
  void link(Node& node);
  // A group that loses its last member is freed. The destructor frees none: REQUIRES: all nodes were unlinked.
  void unlink(Node& node);
  // nullptr: no entry is of it.
  Group* find(Purge::Kind kind, std::string_view text) const;
  std::size_t groups() const { return groups_.size(); }

 private:
  std::uint64_t hash(Purge::Kind kind, std::string_view text) const;

  const std::uint64_t seed_;
  ChainTable<Group> groups_;
};

}  // namespace brink::cache
