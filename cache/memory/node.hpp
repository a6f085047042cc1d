// How a shard holds an entry: its place in the table, in a queue, and in each group that a purge can name. Made outside
// of the shard's lock, linked and unlinked under it, freed outside again.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/entry.hpp"
#include "cache/memory/purge.hpp"

namespace brink::cache {

struct Group;
struct Node;

using Hook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

// A node in a group. The group's text is read from any of its members' entries, so it is kept once.
struct Membership : Hook {
  Group* group = nullptr;  // nullptr: not linked
  Node* node = nullptr;
  std::uint32_t tag = 0;  // which one of the entry's tags, if it is of that kind
  Purge::Kind kind = Purge::Kind::all;

  std::string_view text() const;
};

struct Node : Hook {
  Node(EntryPtr stored, std::uint64_t key_hash);

  std::span<Membership> memberships() { return {memberships_.get(), membership_count_}; }

  // What find() reads comes first, so that it stays within one or two cache lines.
  std::uint64_t hash;
  Node* next_in_bucket = nullptr;
  EntryPtr entry;
  WallTime useful_until;  // the entry's
  std::uint8_t uses = 0;  // finds since it came into its queue, or since it was spared; 3 at most
  bool in_main = false;   // or in the small queue
  std::size_t size;       // its footprint

 private:
  std::uint32_t membership_count_ = 0;
  std::unique_ptr<Membership[]> memberships_;
};

using NodeList = boost::intrusive::list<Node, boost::intrusive::constant_time_size<false>>;

// Nodes that were unlinked under a lock, to be freed after it: declare it before the lock.
struct Removed {
  Removed() = default;
  Removed(const Removed&) = delete;
  Removed& operator=(const Removed&) = delete;
  ~Removed() { nodes.clear_and_dispose(std::default_delete<Node>()); }

  NodeList nodes;
};

}  // namespace brink::cache
