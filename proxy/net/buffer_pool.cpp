#include "proxy/net/buffer_pool.hpp"

#include <cstdlib>
#include <new>

namespace brink::net {
namespace {

// Under ASan each block is a fresh allocation, so that a use after the loan is found.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_blocks = false;
#else
constexpr bool keep_blocks = true;
#endif

}  // namespace

void Buffer::reset() {
  if (data_ != nullptr) pool_->give_back(data_, capacity_);
  pool_ = nullptr;
  data_ = nullptr;
  capacity_ = 0;
}

Buffer BufferPool::get(std::size_t size) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (size > classes[i]) continue;
    size = classes[i];
    if (free_[i].empty()) break;
    char* data = free_[i].back();
    free_[i].pop_back();
    kept_ -= size;
    lent_ += size;
    return {this, data, size};
  }
  char* data = static_cast<char*>(std::malloc(size));
  if (data == nullptr) throw std::bad_alloc();
  lent_ += size;
  return {this, data, size};
}

void BufferPool::give_back(char* data, std::size_t capacity) {
  lent_ -= capacity;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (capacity != classes[i]) continue;
    if (!keep_blocks || (free_[i].size() + 1) * capacity > max_kept_per_class) break;
    free_[i].push_back(data);
    kept_ += capacity;
    return;
  }
  std::free(data);
}

BufferPool::~BufferPool() {
  for (auto& blocks : free_) {
    for (char* data : blocks) std::free(data);
  }
}

}  // namespace brink::net
