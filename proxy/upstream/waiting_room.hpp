// What the workers' queues for one cluster share: how many requests wait in the whole process, and whose turn it is to
// hear that there may be room. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace brink::upstream {

class WaitingRoom {
 public:
  // A worker's queue, while something waits in it.
  class Member {
   public:
    virtual void wake() = 0;  // any thread; must not call back

   protected:
    ~Member() = default;
  };

  // Counts one more waiting request. False: there are `most` already.
  bool enter(std::uint32_t most) {
    if (waiting_.fetch_add(1) < most) return true;
    waiting_.fetch_sub(1);
    return false;
  }
  void leave() { waiting_.fetch_sub(1); }
  std::uint32_t waiting() const { return waiting_.load(); }

  void join(std::shared_ptr<Member> member) {
    const std::lock_guard lock(mutex_);
    members_.push_back(std::move(member));
  }
  void part(const Member* member) {
    const std::lock_guard lock(mutex_);
    std::erase_if(members_, [&](const auto& known) { return known.get() == member; });
  }

  // A place may be free: the queues are told in turn. Costs a load while nothing waits. Whoever begins to wait looks
  // once more afterwards, so that a place that became free in between is not missed.
  void wake_one() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    if (members_.empty()) return;
    std::rotate(members_.begin(), members_.begin() + 1, members_.end());
    members_.back()->wake();
  }

 private:
  std::atomic<std::uint32_t> waiting_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Member>> members_;
};

}  // namespace brink::upstream
