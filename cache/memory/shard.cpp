#include "cache/memory/shard.hpp"

#include <algorithm>

namespace brink::cache {

Node* MemoryStore::Shard::lookup(std::uint64_t hash, std::string_view key) const {
  return table_.find(hash, [key](const Node& node) { return node.entry->key == key; });
}

void MemoryStore::Shard::link(Node& node) {
  table_.insert(node);
  (node.in_main ? main_ : small_).push_front(node);
  (node.in_main ? main_bytes_ : small_bytes_) += node.size;
  index_.link(node);
}

void MemoryStore::Shard::unlink(Node& node) {
  index_.unlink(node);
  NodeList& queue = node.in_main ? main_ : small_;
  queue.erase(queue.iterator_to(node));
  (node.in_main ? main_bytes_ : small_bytes_) -= node.size;
  table_.erase(node);
}

void MemoryStore::Shard::remove(Node& node, Removed& removed) {
  unlink(node);
  removed.nodes.push_back(node);
}

EntryPtr MemoryStore::Shard::find(std::uint64_t hash, std::string_view key, WallTime now) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  Node* node = lookup(hash, key);
  if (node != nullptr && node->useful_until < now) {
    remove(*node, removed);
    ++counts_.expired;
    node = nullptr;
  }
  if (node == nullptr) {
    ++counts_.misses;
    return nullptr;
  }
  ++counts_.hits;
  if (node->uses < 3) ++node->uses;
  return node->entry;
}

Rejection MemoryStore::Shard::insert(std::unique_ptr<Node> node, unsigned shard_count, bool moved) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  if (budget_ == 0 || shard_count != shard_count_) return Rejection::off;
  if (node->size > budget_) {
    ++counts_.rejected;
    return Rejection::too_large;
  }
  if (Node* old = lookup(node->hash, node->entry->key)) {
    if (moved) return Rejection::none;
    node->in_main = old->in_main;
    node->uses = old->uses;
    remove(*old, removed);
  } else if (ghost_.take(node->hash, budget_ - budget_ / 10)) {
    node->in_main = true;
  }
  make_room(budget_ - node->size, static_cast<std::size_t>(-1), removed);
  if (!moved) ++counts_.insertions;
  link(*node.release());
  return Rejection::none;
}

bool MemoryStore::Shard::erase(std::uint64_t hash, std::string_view key) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  Node* node = lookup(hash, key);
  if (node == nullptr) return false;
  remove(*node, removed);
  return true;
}

void MemoryStore::Shard::make_room(std::size_t allowed, std::size_t max_evictions, Removed& removed) {
  unsigned spared = 0;
  for (std::size_t i = 0; i < max_evictions && bytes() > allowed; ++i) evict_one(spared, removed);
}

void MemoryStore::Shard::evict_one(unsigned& spared, Removed& removed) {
  while (true) {
    const bool from_small = main_.empty() || small_bytes_ > bytes() / 10;
    Node& oldest = from_small ? small_.back() : main_.back();
    if (spared < max_spared && oldest.uses > (from_small ? 1 : 0)) {
      spare(oldest, from_small ? 0 : oldest.uses - 1);
      ++spared;
      continue;
    }
    if (from_small) {
      ghost_.reserve(table_.size());
      ghost_.add(oldest.hash, oldest.size);
    }
    ++counts_.evictions;
    return remove(oldest, removed);
  }
}

void MemoryStore::Shard::spare(Node& node, std::uint8_t uses) {
  if (!node.in_main) {
    small_bytes_ -= node.size;
    main_bytes_ += node.size;
  }
  main_.splice(main_.begin(), node.in_main ? main_ : small_, NodeList::s_iterator_to(node));
  node.in_main = true;
  node.uses = uses;
}

std::size_t MemoryStore::Shard::purge(const Purge& what, bool soft) {
  if (soft) return soft_purge(what);
  std::size_t total = 0;
  while (true) {
    Removed removed;
    const std::lock_guard lock(mutex_);
    const std::size_t purged = purge_some(what, removed);
    total += purged;
    if (purged < batch) return total;
  }
}

std::size_t MemoryStore::Shard::purge_some(const Purge& what, Removed& removed) {
  std::size_t count = 0;
  if (what.kind == Purge::Kind::all) {
    for (NodeList* queue : {&small_, &main_}) {
      for (; count < batch && !queue->empty(); ++count) remove(queue->back(), removed);
    }
  } else if (Group* group = index_.find(what.kind, what.text)) {
    for (bool last = false; count < batch && !last; ++count) {
      last = std::next(group->members.begin()) == group->members.end();  // then removing it frees the group
      remove(*group->members.front().node, removed);
    }
  }
  counts_.purged += count;
  return count;
}

std::size_t MemoryStore::Shard::soft_purge(const Purge& what) {
  std::size_t count = 0;
  const auto mark = [&count](const Node& node) {
    node.entry->soft_purged.store(true, std::memory_order_relaxed);
    ++count;
  };
  const std::lock_guard lock(mutex_);
  if (what.kind == Purge::Kind::all) {
    std::for_each(small_.begin(), small_.end(), mark);
    std::for_each(main_.begin(), main_.end(), mark);
  } else if (Group* group = index_.find(what.kind, what.text)) {
    for (const Membership& membership : group->members) mark(*membership.node);
  }
  counts_.purged += count;
  return count;
}

void MemoryStore::Shard::resize(std::size_t bytes_allowed, unsigned shard_count) {
  while (true) {
    Removed removed;
    const std::lock_guard lock(mutex_);
    budget_ = bytes_allowed;
    shard_count_ = shard_count;
    make_room(budget_, batch, removed);
    if (bytes() > budget_) continue;
    if (budget_ == 0) ghost_.clear();
    return;
  }
}

void MemoryStore::Shard::drain(Removed& removed) {
  while (true) {
    const std::lock_guard lock(mutex_);
    budget_ = 0;
    ghost_.clear();
    std::size_t count = 0;
    for (NodeList* queue : {&small_, &main_}) {
      for (; count < batch && !queue->empty(); ++count) remove(queue->back(), removed);
    }
    if (count < batch) return;
  }
}

void MemoryStore::Shard::drain() {
  Removed removed;
  drain(removed);
}

void MemoryStore::Shard::reject() {
  const std::lock_guard lock(mutex_);
  ++counts_.rejected;
}

MemoryStats MemoryStore::Shard::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats stats = counts_;
  stats.entries = table_.size();
  stats.bytes = bytes();
  return stats;
}

}  // namespace brink::cache
