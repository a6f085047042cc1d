// Requests of one worker that wait until the cluster has room, the most urgent first, then in the order they came.
// Nothing polls: the end of a request wakes a queue (waiting_room.hpp). Only where endpoints have a `max_qps` does it
// look again each 50 ms, because nothing ends when a token becomes free. One thread, but for wake().
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/net/loop.hpp"
#include "proxy/observe/shard.hpp"
#include "proxy/upstream/waiting_room.hpp"

namespace brink::upstream {

class Queue final : public WaitingRoom::Member, public std::enable_shared_from_this<Queue> {
 public:
  using Place = std::pair<unsigned, std::uint64_t>;  // urgency, then arrival

  class Waiter {
   public:
    // There may be room. True: it has left the queue and goes on; false: there was none for it.
    virtual bool on_room() = 0;

   protected:
    ~Waiter() = default;
  };

  Queue(net::Loop& loop, observe::Shard& shard, std::shared_ptr<WaitingRoom> room);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void configure(bool has_rates) { has_rates_ = has_rates; }
  bool empty() const { return waiters_.empty(); }
  // `urgency`: 0 is the most urgent. Nothing: `most` wait in the process already. on_room may follow, never from
  // inside.
  std::optional<Place> enter(Waiter& waiter, unsigned urgency, std::uint32_t most);
  void leave(const Place& place);
  void wake() override;

 private:
  void look();
  void on_timer();

  net::Loop& loop_;
  observe::Shard& shard_;
  const std::shared_ptr<WaitingRoom> room_;
  std::map<Place, Waiter*> waiters_;
  std::uint64_t arrivals_ = 0;
  net::Timer timer_;
  std::atomic<bool> woken_{false};
  bool has_rates_ = false;
};

}  // namespace brink::upstream
