// Who waits for a place in a cluster, and who gets it.
#include "proxy/upstream/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace brink::upstream {
namespace {

// A cluster with some places; what waiters got is in `order`.
struct Fixture {
  struct Waiter final : Queue::Waiter {
    Waiter(Fixture& fixture, std::string its_name, Queue& its_queue)
        : all(fixture), name(std::move(its_name)), queue(its_queue) {}
    bool on_room() override {
      ++asked;
      if (all.places == 0) return false;
      --all.places;
      all.order += name;
      queue.leave(*place);
      place.reset();
      return true;
    }
    Fixture& all;
    const std::string name;
    Queue& queue;
    std::optional<Queue::Place> place;
    int asked = 0;
  };

  Fixture() {
    for (int i = 0; i < 2; ++i) queues.push_back(std::make_shared<Queue>(loops[i], shards[i], room));
  }
  // A queue in use belongs to its room too: whoever waits must leave.
  ~Fixture() {
    for (const auto& waiter : waiters) {
      if (waiter->place) waiter->queue.leave(*waiter->place);
    }
    run();
  }
  Waiter& enter(const std::string& name, unsigned urgency = 5, std::size_t queue = 0, std::uint32_t most = 10) {
    waiters.push_back(std::make_unique<Waiter>(*this, name, *queues[queue]));
    waiters.back()->place = queues[queue]->enter(*waiters.back(), urgency, most);
    return *waiters.back();
  }
  void run() {
    for (int round = 0; round < 4; ++round) {
      for (auto& loop : loops) {
        loop.context.restart();
        loop.context.poll();
      }
    }
  }
  void free(int count = 1) {
    for (int i = 0; i < count; ++i) {
      ++places;
      room->wake_one();
      run();
    }
  }

  net::Loop loops[2];
  observe::Shard shards[2];
  std::shared_ptr<WaitingRoom> room = std::make_shared<WaitingRoom>();
  std::vector<std::shared_ptr<Queue>> queues;
  std::vector<std::unique_ptr<Waiter>> waiters;
  int places = 0;
  std::string order;
};

TEST(Queue, TheMostUrgentFirstThenInOrder) {
  Fixture fixture;
  fixture.enter("a");
  fixture.enter("b", 9);
  fixture.enter("c");
  fixture.enter("d", 0);
  fixture.run();
  EXPECT_EQ(fixture.order, "");
  fixture.free(4);
  EXPECT_EQ(fixture.order, "dacb");
  EXPECT_EQ(fixture.room->waiting(), 0u);
  EXPECT_TRUE(fixture.queues[0]->empty());
}

TEST(Queue, APlaceThatBecameFreeBeforeIsNotMissed) {
  Fixture fixture;
  fixture.places = 1;
  fixture.enter("a");
  fixture.run();
  EXPECT_EQ(fixture.order, "a");
}

TEST(Queue, IsBoundedInTheWholeProcess) {
  Fixture fixture;
  EXPECT_TRUE(fixture.enter("a", 5, 0, 2).place);
  EXPECT_TRUE(fixture.enter("b", 5, 1, 2).place);
  EXPECT_FALSE(fixture.enter("c", 0, 0, 2).place);
  EXPECT_EQ(fixture.shards[0].get(observe::Counter::queue_refused), 1u);
  EXPECT_EQ(fixture.shards[0].get(observe::Gauge::queue_waiting), 1u);
}

TEST(Queue, EveryWorkersTurnComes) {
  Fixture fixture;
  for (int i = 0; i < 3; ++i) {
    fixture.enter("a", 5, 0);
    fixture.enter("b", 5, 1);
  }
  fixture.run();
  fixture.free(6);
  EXPECT_EQ(std::count(fixture.order.begin(), fixture.order.begin() + 2, 'a'), 1) << fixture.order;
  EXPECT_EQ(fixture.order.size(), 6u);
}

TEST(Queue, AWakeUpThatNobodyHereNeedsGoesOn) {
  Fixture fixture;
  Fixture::Waiter& first = fixture.enter("a", 5, 0);
  fixture.enter("b", 5, 1);
  fixture.run();
  fixture.places = 1;
  fixture.queues[0]->wake();
  fixture.queues[0]->leave(*first.place);  // its client went in the meantime
  fixture.run();
  EXPECT_EQ(fixture.order, "b");
}

TEST(Queue, WhoLeavesIsForgotten) {
  Fixture fixture;
  Fixture::Waiter& gone = fixture.enter("a");
  fixture.enter("b");
  fixture.queues[0]->leave(*gone.place);
  fixture.queues[0]->leave(*gone.place);
  EXPECT_EQ(fixture.room->waiting(), 1u);
  fixture.free(2);
  EXPECT_EQ(fixture.order, "b");
  EXPECT_EQ(gone.asked, 0);
}

}  // namespace
}  // namespace brink::upstream
