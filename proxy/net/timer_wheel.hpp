// One coarse timer wheel a worker, so that a deadline costs a list link and not a system timer. Deadlines fire up to
// one tick (50 ms) late, never early. Belongs to its worker's thread.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "router/endpoint_state.hpp"

namespace brink::net {

using router::Clock;
using router::Time;

class TimerWheel;

// Place in a slot's list.
struct TimerLink {
  TimerLink* next = nullptr;
  TimerLink* previous = nullptr;
};

// A deadline of its owner. Moving the deadline later is a store; the wheel looks again when the old slot comes round.
class Timer : private TimerLink {
 public:
  using Fire = void (*)(void* owner);
  Timer(Fire fire, void* owner) : fire_(fire), owner_(owner) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { unlink(); }

  void set(TimerWheel& wheel, Time deadline);
  void cancel();
  bool armed() const { return armed_; }

 private:
  friend class TimerWheel;
  void unlink();

  TimerWheel* wheel_ = nullptr;  // set while linked in one
  Fire fire_ = nullptr;
  void* owner_ = nullptr;
  Time deadline_{};
  Time slot_time_{};  // when the slot this is linked in comes up
  bool armed_ = false;
};

class TimerWheel {
 public:
  static constexpr auto tick = std::chrono::milliseconds(50);
  explicit TimerWheel(boost::asio::io_context& context);
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

 private:
  friend class Timer;
  static constexpr std::size_t slots = 256;  // 12.8 s a turn; later deadlines stay for further turns
  void link(Timer& timer);
  void start();
  void on_tick();

  boost::asio::steady_timer ticker_;
  std::array<TimerLink, slots> heads_;
  std::size_t linked_ = 0;
  std::size_t position_ = 0;  // the slot that comes up at next_
  Time next_{};
  bool running_ = false;
};

}  // namespace brink::net
