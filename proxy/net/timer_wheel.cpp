#include "proxy/net/timer_wheel.hpp"

#include <algorithm>

namespace brink::net {

void Timer::unlink() {
  if (wheel_ == nullptr) return;
  next->previous = previous;
  previous->next = next;
  next = previous = nullptr;
  --wheel_->linked_;
  wheel_ = nullptr;
}

void Timer::cancel() {
  // Stays linked until its slot comes up or it is destroyed: re-arming soon is the common case and then costs a store.
  armed_ = false;
  deadline_ = Time::max();
}

void Timer::set(TimerWheel& wheel, Time deadline) {
  armed_ = true;
  deadline_ = deadline;
  if (wheel_ != nullptr) {
    if (slot_time_ <= deadline) return;
    unlink();
  }
  wheel.link(*this);
}

TimerWheel::TimerWheel(boost::asio::io_context& context) : ticker_(context) {
  for (TimerLink& head : heads_) head.next = head.previous = &head;
}

void TimerWheel::link(Timer& timer) {
  start();
  const auto ahead =
      std::max<Clock::duration>(timer.deadline_ - next_ + tick - Clock::duration(1), Clock::duration(0)) / tick;
  const std::size_t steps = std::min<std::size_t>(static_cast<std::size_t>(ahead), slots - 1);
  TimerLink& head = heads_[(position_ + steps) % slots];
  timer.slot_time_ = next_ + steps * tick;
  timer.next = &head;
  timer.previous = head.previous;
  head.previous->next = &timer;
  head.previous = &timer;
  timer.wheel_ = this;
  ++linked_;
}

void TimerWheel::start() {
  if (running_) return;
  running_ = true;
  next_ = Clock::now() + tick;
  ticker_.expires_at(next_);
  ticker_.async_wait([this](boost::system::error_code error) {
    if (!error) on_tick();
  });
}

void TimerWheel::on_tick() {
  const Time now = Clock::now();
  while (next_ <= now) {
    // Take the whole slot off first: a timer that fires may link, unlink or destroy any other.
    TimerLink due{&due, &due};
    TimerLink& head = heads_[position_];
    if (head.next != &head) {
      due = head;
      due.next->previous = due.previous->next = &due;
      head.next = head.previous = &head;
    }
    position_ = (position_ + 1) % slots;
    next_ += tick;
    while (due.next != &due) {
      Timer& timer = static_cast<Timer&>(*due.next);
      timer.unlink();
      if (!timer.armed_) continue;
      if (timer.deadline_ > now) {
        link(timer);
        continue;
      }
      timer.armed_ = false;
      timer.fire_(timer.owner_);
    }
  }
  if (linked_ == 0) {
    running_ = false;
    return;
  }
  ticker_.expires_at(next_);
  ticker_.async_wait([this](boost::system::error_code error) {
    if (!error) on_tick();
  });
}

}  // namespace brink::net
