// A hash table of objects that others own: T has `std::uint64_t hash` and `T* next_in_bucket`. Inserting allocates only
// when the table doubles; finding and erasing never do. Not thread-safe: belongs to a shard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace brink::cache {

template <class T>
class ChainTable {
 public:
  // The object of this hash for which matches(object) is true, or nullptr.
  template <class Matches>
  T* find(std::uint64_t hash, Matches matches) const {
    if (buckets_.empty()) return nullptr;
    T* at = buckets_[hash & (buckets_.size() - 1)];
    while (at != nullptr && !(at->hash == hash && matches(*at))) at = at->next_in_bucket;
    return at;
  }

  // REQUIRES: its equal is not there.
  void insert(T& object) {
    if (size_ == buckets_.size()) grow();
    push(object);
    ++size_;
  }

  // REQUIRES: it is there.
  void erase(T& object) {
    T** at = &bucket(object.hash);
    while (*at != &object) at = &(*at)->next_in_bucket;
    *at = object.next_in_bucket;
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  T*& bucket(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }

  void push(T& object) {
    T*& head = bucket(object.hash);
    object.next_in_bucket = head;
    head = &object;
  }

  void grow() {
    const std::vector<T*> old = std::exchange(buckets_, std::vector<T*>(std::max<std::size_t>(16, size_ * 2)));
    for (T* at : old) {
      while (at != nullptr) {
        T* next = at->next_in_bucket;
        push(*at);
        at = next;
      }
    }
  }

  std::vector<T*> buckets_;  // a power of two, or empty
  std::size_t size_ = 0;
};

}  // namespace brink::cache
