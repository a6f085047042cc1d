// Blocks of memory for reading, kept by each worker and lent only while a request needs them. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace brink::net {

class BufferPool;

// A block on loan; gives itself back. Contents are uninitialised.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Buffer() { reset(); }

  explicit operator bool() const { return data_ != nullptr; }
  char* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  void reset();

 private:
  friend class BufferPool;
  Buffer(BufferPool* pool, char* data, std::size_t capacity) : pool_(pool), data_(data), capacity_(capacity) {}
  void swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }
  BufferPool* pool_ = nullptr;
  char* data_ = nullptr;
  std::size_t capacity_ = 0;
};

class BufferPool {
 public:
  static constexpr std::size_t small = 4 * 1024;
  static constexpr std::size_t medium = 16 * 1024;
  static constexpr std::size_t large = 64 * 1024;
  static constexpr std::size_t huge = 128 * 1024;

  BufferPool() = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  // A block of at least `size` bytes: of the smallest class that fits, or exactly `size` past the largest class.
  Buffer get(std::size_t size);
  std::uint64_t bytes_lent() const { return lent_; }
  std::uint64_t bytes_kept() const { return kept_; }

 private:
  friend class Buffer;
  static constexpr std::array<std::size_t, 4> classes = {small, medium, large, huge};
  static constexpr std::size_t max_kept_per_class = 4 * 1024 * 1024;  // bytes of free blocks kept for reuse
  void give_back(char* data, std::size_t capacity);

  std::array<std::vector<char*>, classes.size()> free_;
  std::uint64_t lent_ = 0;
  std::uint64_t kept_ = 0;
};

}  // namespace brink::net
