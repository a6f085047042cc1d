#include "proxy/net/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

namespace brink::net {
namespace {

using namespace std::chrono_literals;

// A deadline that notes when it fired.
struct Alarm {
  Alarm() : timer([](void* self) { static_cast<Alarm*>(self)->fired_at = Clock::now(); }, this) {}
  Time fired_at{};
  Timer timer;
};

TEST(TimerWheel, FiresNotBeforeItsDeadline) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  Alarm alarm;
  const Time deadline = Clock::now() + 120ms;
  alarm.timer.set(wheel, deadline);
  context.run();  // returns once nothing is linked any more
  EXPECT_GE(alarm.fired_at, deadline);
  EXPECT_FALSE(alarm.timer.armed());
}

TEST(TimerWheel, FiresInTheOrderOfDeadlines) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  Alarm late, early;
  late.timer.set(wheel, Clock::now() + 300ms);
  early.timer.set(wheel, Clock::now() + 100ms);
  context.run();
  EXPECT_LT(early.fired_at, late.fired_at);
}

TEST(TimerWheel, ACancelledTimerDoesNotFire) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  Alarm alarm;
  alarm.timer.set(wheel, Clock::now() + 50ms);
  alarm.timer.cancel();
  context.run();
  EXPECT_EQ(alarm.fired_at, Time{});
}

TEST(TimerWheel, MovingADeadlineLaterOrEarlierHolds) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  Alarm later, earlier;
  const Time now = Clock::now();
  later.timer.set(wheel, now + 50ms);
  later.timer.set(wheel, now + 250ms);
  earlier.timer.set(wheel, now + 10s);
  earlier.timer.set(wheel, now + 60ms);
  context.run();
  EXPECT_GE(later.fired_at, now + 250ms);
  EXPECT_LT(earlier.fired_at, later.fired_at);
}

TEST(TimerWheel, ATimerMayDestroyAnotherOfTheSameSlot) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  const Time deadline = Clock::now() + 60ms;
  auto victim = std::make_unique<Alarm>();
  struct Killer {
    std::unique_ptr<Alarm>* target;
    Timer timer{[](void* self) { static_cast<Killer*>(self)->target->reset(); }, this};
  };
  Killer killer{&victim};
  killer.timer.set(wheel, deadline);
  victim->timer.set(wheel, deadline);
  context.run();
  EXPECT_EQ(victim, nullptr);
}

TEST(TimerWheel, ATimerMayBeSetAgainWhileItFires) {
  boost::asio::io_context context{1};
  TimerWheel wheel(context);
  struct Repeating {
    TimerWheel& wheel;
    int count = 0;
    Timer timer{[](void* self) {
                  auto& me = *static_cast<Repeating*>(self);
                  if (++me.count < 3) me.timer.set(me.wheel, Clock::now() + 1ms);
                },
                this};
  };
  Repeating repeating{wheel};
  repeating.timer.set(wheel, Clock::now());
  context.run();
  EXPECT_EQ(repeating.count, 3);
}

}  // namespace
}  // namespace brink::net
