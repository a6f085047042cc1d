#include "proxy/upstream/queue.hpp"

#include <boost/asio/post.hpp>

namespace brink::upstream {

namespace {
constexpr auto rate_interval = std::chrono::milliseconds(50);
}

Queue::Queue(net::Loop& loop, observe::Shard& shard, std::shared_ptr<WaitingRoom> room)
    : loop_(loop),
      shard_(shard),
      room_(std::move(room)),
      timer_([](void* self) { static_cast<Queue*>(self)->on_timer(); }, this) {}

std::optional<Queue::Place> Queue::enter(Waiter& waiter, unsigned urgency, std::uint32_t most) {
  if (!room_->enter(most)) {
    shard_.add(observe::Counter::queue_refused);
    return std::nullopt;
  }
  if (waiters_.empty()) room_->join(shared_from_this());
  const Place place{urgency, ++arrivals_};
  waiters_.emplace(place, &waiter);
  shard_.add(observe::Counter::queue_waited);
  shard_.change(observe::Gauge::queue_waiting, 1);
  wake();  // a place may have become free before it was known that somebody waits
  if (has_rates_ && !timer_.armed()) timer_.set(loop_.wheel, net::Clock::now() + rate_interval);
  return place;
}

void Queue::leave(const Place& place) {
  if (waiters_.erase(place) == 0) return;
  shard_.change(observe::Gauge::queue_waiting, -1);
  room_->leave();
  if (waiters_.empty()) room_->part(this);
}

void Queue::wake() {
  if (woken_.exchange(true)) return;
  boost::asio::post(loop_.context, [self = shared_from_this()] {
    self->woken_ = false;
    self->look();
  });
}

void Queue::look() {
  while (!waiters_.empty()) {
    if (!waiters_.begin()->second->on_room()) return;
  }
  room_->wake_one();  // what is left is for other workers
}

void Queue::on_timer() {
  if (waiters_.empty()) return;
  timer_.set(loop_.wheel, net::Clock::now() + rate_interval);
  look();
}

}  // namespace brink::upstream
