// The bytes of an answer on its way: one copy for all who pass it on. Those that are kept to be stored count against a
// budget until the last who holds them lets go, however slow it is. Thread-safe, every member.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <string>
#include <string_view>

namespace brink::cache {

class Budget {
 public:
  explicit Budget(std::size_t limit) : limit_(limit) {}
  bool take(std::size_t bytes) {  // false: there is no room, and nothing was taken
    if (taken_.fetch_add(bytes) + bytes <= limit_) return true;
    taken_.fetch_sub(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { taken_.fetch_sub(bytes); }
  void set_limit(std::size_t limit) { limit_ = limit; }  // what is taken beyond it stays taken
  std::size_t taken() const { return taken_; }

 private:
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> taken_{0};
};

struct Bytes : boost::intrusive_ref_counter<Bytes, boost::thread_safe_counter> {
  // `taken`: the budget that has these bytes already; it outlives them.
  explicit Bytes(std::string_view bytes, Budget* taken = nullptr) : text(bytes), taken_(taken) {}
  ~Bytes() {
    if (taken_ != nullptr) taken_->give_back(text.size());
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  const std::string text;

 private:
  Budget* const taken_;
};
using Piece = boost::intrusive_ptr<const Bytes>;

}  // namespace brink::cache
