#include "cache/flight/flight.hpp"

#include <gtest/gtest.h>

#include "tests/cache/flight/loop.hpp"

namespace brink::cache {
namespace {

using Phase = Flight::Phase;

struct FlightTest : testing::Test {
  boost::asio::io_context context;
  Woken publisher{context};
  Woken leader{context};
  Woken other{context};
  FlightPtr flight{new Flight("key")};
  Flight::Ticket leading = flight->follow(leader.waker, true);
  EntryPtr own = head_named("own");
  EntryPtr shown = head_named("shown");

  FlightTest() { flight->set_publisher(publisher.waker); }
};

TEST_F(FlightTest, WaitsUntilThereIsAHead) {
  EXPECT_EQ(flight->look(leading).phase, Phase::waiting);
  flight->open(own, shown);
  run_all(context);
  EXPECT_EQ(leader.count, 1);
  EXPECT_EQ(flight->look(leading).phase, Phase::streaming);
}

TEST_F(FlightTest, TheLeaderSeesItsOwnHeadAndTheOthersTheirs) {
  const Flight::Ticket ticket = flight->follow(other.waker, false);
  flight->open(own, shown);
  EXPECT_EQ(flight->look(leading).head, own);
  EXPECT_EQ(flight->look(ticket).head, shown);
}

TEST_F(FlightTest, EachTakesEachPieceOnce) {
  const Flight::Ticket ticket = flight->follow(other.waker, false);
  flight->open(own, shown);
  const Piece first = piece_of(1);
  const Piece second = piece_of(2);
  flight->append(first);
  EXPECT_EQ(flight->look(leading).pieces, std::vector<Piece>{first});
  flight->append(second);
  EXPECT_EQ(flight->look(leading).pieces, std::vector<Piece>{second});
  EXPECT_EQ(flight->look(ticket).pieces, (std::vector<Piece>{first, second}));
  EXPECT_TRUE(flight->look(ticket).pieces.empty());
}

TEST_F(FlightTest, WhoJoinsLateGetsAllFromTheStart) {
  flight->open(own, shown);
  const Piece first = piece_of(1);
  flight->append(first);
  flight->look(leading);
  const Flight::Ticket ticket = flight->follow(other.waker, false);
  EXPECT_EQ(flight->look(ticket).pieces, std::vector<Piece>{first});
}

TEST_F(FlightTest, WhatIsKeptDoesNotPauseAnybody) {
  flight->open(own, shown);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(flight->append(piece_of(Flight::backlog)));
  EXPECT_FALSE(flight->congested());
  EXPECT_TRUE(flight->look(leading).kept);
}

TEST_F(FlightTest, TheSlowestPausesTheLeaderOnceNothingIsKept) {
  const Flight::Ticket slow = flight->follow(other.waker, false);
  flight->open(own, shown);
  flight->stop_keeping();
  EXPECT_FALSE(flight->look(leading).kept);
  EXPECT_TRUE(flight->append(piece_of(Flight::backlog)));
  EXPECT_FALSE(flight->append(piece_of(1)));
  flight->look(leading);
  run_all(context);
  EXPECT_EQ(publisher.count, 0) << "one has not taken anything";
  EXPECT_TRUE(flight->congested());
  flight->look(slow);
  run_all(context);
  EXPECT_EQ(publisher.count, 1);
  EXPECT_FALSE(flight->congested());
}

TEST_F(FlightTest, TheSlowestLeavingMakesRoom) {
  const Flight::Ticket slow = flight->follow(other.waker, false);
  flight->open(own, shown);
  flight->stop_keeping();
  EXPECT_FALSE(flight->append(piece_of(Flight::backlog + 1)));
  flight->look(leading);
  flight->leave(slow);
  run_all(context);
  EXPECT_EQ(publisher.count, 1);
  EXPECT_FALSE(flight->congested());
}

TEST_F(FlightTest, StoppingToKeepDropsWhatAllHave) {
  Budget budget(1000);
  flight->open(own, shown);
  ASSERT_TRUE(budget.take(400));
  flight->append(piece_of(400, &budget));
  flight->look(leading);
  EXPECT_EQ(budget.taken(), 400u);
  flight->stop_keeping();
  EXPECT_EQ(budget.taken(), 0u);
}

TEST_F(FlightTest, WhatASlowOneHasNotTakenStaysInTheBudget) {
  Budget budget(1000);
  const Flight::Ticket slow = flight->follow(other.waker, false);
  flight->open(own, shown);
  ASSERT_TRUE(budget.take(400));
  flight->append(piece_of(400, &budget));
  flight->look(leading);
  flight->stop_keeping();
  EXPECT_EQ(budget.taken(), 400u);
  {
    const Flight::News news = flight->look(slow);
    EXPECT_EQ(budget.taken(), 400u) << "it is on its way to the client";
  }
  EXPECT_EQ(budget.taken(), 0u);
}

TEST_F(FlightTest, WithoutFollowersNothingIsHeldOnceNothingIsKept) {
  flight->open(own, shown);
  flight->leave(leading);
  flight->stop_keeping();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(flight->append(piece_of(Flight::backlog + 1)));
  EXPECT_FALSE(flight->congested());
}

TEST_F(FlightTest, WhatIsTheLeadersAloneIsShownToNobodyElse) {
  const Flight::Ticket ticket = flight->follow(other.waker, false);
  flight->open(own, nullptr);
  flight->append(piece_of(5));
  const Flight::News theirs = flight->look(ticket);
  EXPECT_FALSE(theirs.shared);
  EXPECT_EQ(theirs.head, nullptr);
  EXPECT_TRUE(theirs.pieces.empty());
  const Flight::News ours = flight->look(leading);
  EXPECT_TRUE(ours.shared);
  EXPECT_EQ(ours.head, own);
  EXPECT_EQ(ours.pieces.size(), 1u);
}

TEST_F(FlightTest, OthersDoNotSlowDownWhatIsTheLeadersAlone) {
  flight->follow(other.waker, false);
  flight->open(own, nullptr);
  EXPECT_FALSE(flight->append(piece_of(Flight::backlog + 1)));
  flight->look(leading);
  EXPECT_FALSE(flight->congested());
}

TEST_F(FlightTest, CompletesWithEntryAndTrailers) {
  flight->open(own, shown);
  const EntryPtr stored = head_named("stored");
  flight->complete(stored, "X-Sum: 1\r\n");
  run_all(context);
  EXPECT_EQ(leader.count, 1);
  const Flight::News news = flight->look(leading);
  EXPECT_EQ(news.phase, Phase::complete);
  EXPECT_EQ(news.entry, stored);
  EXPECT_EQ(news.trailers, "X-Sum: 1\r\n");
}

TEST_F(FlightTest, FailsWithAReason) {
  flight->fail({7, "reset"});
  const Flight::News news = flight->look(leading);
  EXPECT_EQ(news.phase, Phase::failed);
  EXPECT_EQ(news.failure.kind, 7u);
  EXPECT_EQ(news.failure.detail, "reset");
}

TEST_F(FlightTest, TheLastToLeaveWakesTheLeadersSide) {
  const Flight::Ticket ticket = flight->follow(other.waker, false);
  flight->leave(leading);
  run_all(context);
  EXPECT_EQ(publisher.count, 0);
  EXPECT_FALSE(flight->deserted());
  flight->leave(ticket);
  run_all(context);
  EXPECT_EQ(publisher.count, 1);
  EXPECT_TRUE(flight->deserted());
}

}  // namespace
}  // namespace brink::cache
