#include "cache/flight/waker.hpp"

#include <gtest/gtest.h>

#include "tests/cache/flight/loop.hpp"

namespace brink::cache {
namespace {

TEST(Waker, CallsFromTheLoopAndNeverFromInside) {
  boost::asio::io_context context;
  Woken woken(context);
  woken.waker->wake();
  EXPECT_EQ(woken.count, 0);
  run_all(context);
  EXPECT_EQ(woken.count, 1);
}

TEST(Waker, RunsOnceForManyWakesAndAgainForLaterOnes) {
  boost::asio::io_context context;
  Woken woken(context);
  for (int i = 0; i < 5; ++i) woken.waker->wake();
  run_all(context);
  EXPECT_EQ(woken.count, 1);
  woken.waker->wake();
  run_all(context);
  EXPECT_EQ(woken.count, 2);
}

// News that comes while the object looks at the news before it must not get lost.
TEST(Waker, AWakeFromWithinTheCallIsAnotherCall) {
  boost::asio::io_context context;
  struct Chain {
    int count = 0;
    WakerPtr waker;
  } chain;
  chain.waker = WakerPtr(new Waker(
      context,
      [](void* self) {
        Chain& it = *static_cast<Chain*>(self);
        if (++it.count < 3) it.waker->wake();
      },
      &chain));
  chain.waker->wake();
  run_all(context);
  EXPECT_EQ(chain.count, 3);
  chain.waker->detach();
}

TEST(Waker, DetachedItCallsNobodyWhateverWasPosted) {
  boost::asio::io_context context;
  WakerPtr waker;
  {
    Woken woken(context);
    waker = woken.waker;
    waker->wake();
  }
  run_all(context);  // the object is gone: a call would be seen by the address sanitizer
  waker->wake();
  run_all(context);
}

TEST(Waker, MayBeReleasedWhilePosted) {
  boost::asio::io_context context;
  Woken woken(context);
  woken.waker->wake();
  const Waker* const before = woken.waker.get();
  woken.waker = WakerPtr(new Waker(
      context, [](void*) {}, nullptr));
  EXPECT_NE(woken.waker.get(), before);
  run_all(context);
  EXPECT_EQ(woken.count, 1);
}

}  // namespace
}  // namespace brink::cache
