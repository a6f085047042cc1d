#include "cache/memory/purge_log.hpp"

#include <gtest/gtest.h>

#include "tests/cache/memory/entries.hpp"

namespace brink::cache {
namespace {

using namespace std::chrono_literals;
using Kind = Purge::Kind;

TEST(PurgeLog, WhatWasStoredBeforeThePurgeIsDropped) {
  PurgeLog log;
  const EntryPtr entry = make_entry({.key = "k", .url = "u"});
  EXPECT_EQ(log.verdict(*entry, start), Verdict::keep);
  log.note({Kind::url, "u"}, false, start, start);
  EXPECT_EQ(log.verdict(*entry, start - 1ms), Verdict::drop);
  EXPECT_EQ(log.verdict(*entry, start), Verdict::drop);  // in the same millisecond: nobody knows
  EXPECT_EQ(log.verdict(*entry, start + 1ms), Verdict::keep);
}

TEST(PurgeLog, EveryKindOfGroupCounts) {
  const EntryPtr entry = make_entry({.key = "k", .url = "u", .route = "r", .model = "m", .tags = {"first", "second"}});
  for (const Purge& what : {Purge{Kind::url, "u"}, Purge{Kind::route, "r"}, Purge{Kind::model, "m"},
                            Purge{Kind::tag, "second"}, Purge{Kind::all, ""}}) {
    PurgeLog log;
    log.note(what, false, start, start);
    EXPECT_EQ(log.verdict(*entry, start), Verdict::drop) << what.text;
  }
  PurgeLog log;
  log.note({Kind::tag, "u"}, false, start, start);
  log.note({Kind::url, "first"}, false, start, start);
  EXPECT_EQ(log.verdict(*entry, start), Verdict::keep);
}

TEST(PurgeLog, SoftIsStaleAndHardWins) {
  PurgeLog log;
  const EntryPtr entry = make_entry({.key = "k", .tags = {"t"}});
  log.note({Kind::tag, "t"}, true, start + 10s, start + 10s);
  EXPECT_EQ(log.verdict(*entry, start), Verdict::stale);
  log.note({Kind::tag, "t"}, false, start + 5s, start + 10s);
  EXPECT_EQ(log.verdict(*entry, start), Verdict::drop);
  EXPECT_EQ(log.verdict(*entry, start + 7s), Verdict::stale);
  EXPECT_EQ(log.verdict(*entry, start + 11s), Verdict::keep);
  EXPECT_EQ(log.records(), 1U);
}

TEST(PurgeLog, AnOlderPurgeThatComesLateChangesNothing) {
  PurgeLog log;
  const EntryPtr entry = make_entry({.key = "k", .url = "u"});
  log.note({Kind::url, "u"}, false, start, start);
  log.note({Kind::url, "u"}, false, start - 1h, start);
  EXPECT_EQ(log.verdict(*entry, start), Verdict::drop);
}

TEST(PurgeLog, IsBoundedAndForgetsNoPurge) {
  PurgeLog log({.max_records = 10, .horizon = 1h});
  for (int i = 0; i < 100; ++i) log.note({Kind::url, std::to_string(i)}, false, start + i * 1s, start + 100s);
  EXPECT_EQ(log.records(), 10U);
  const EntryPtr folded = make_entry({.key = "k", .url = "5"});
  EXPECT_EQ(log.verdict(*folded, start + 5s), Verdict::drop);
  EXPECT_EQ(log.verdict(*folded, start + 89s), Verdict::drop);  // the price: up to the youngest that was folded
  EXPECT_EQ(log.verdict(*folded, start + 90s), Verdict::keep);
  const EntryPtr kept = make_entry({.key = "k", .url = "95"});
  EXPECT_EQ(log.verdict(*kept, start + 95s), Verdict::drop);
  EXPECT_EQ(log.verdict(*kept, start + 96s), Verdict::keep);
}

TEST(PurgeLog, FoldedSoftPurgesOnlyMakeStale) {
  PurgeLog log({.max_records = 1, .horizon = 1h});
  log.note({Kind::url, "a"}, true, start, start);
  log.note({Kind::url, "b"}, true, start + 1s, start + 1s);
  EXPECT_EQ(log.records(), 1U);
  EXPECT_EQ(log.verdict(*make_entry({.key = "k", .url = "other"}), start), Verdict::stale);
}

TEST(PurgeLog, RecordsPastTheHorizonAreFolded) {
  PurgeLog log({.max_records = 10, .horizon = 1h});
  log.note({Kind::url, "a"}, false, start, start);
  log.note({Kind::url, "b"}, false, start + 2h, start + 2h);
  EXPECT_EQ(log.records(), 1U);
  EXPECT_EQ(log.verdict(*make_entry({.key = "k", .url = "a"}), start), Verdict::drop);
  EXPECT_EQ(log.verdict(*make_entry({.key = "k", .url = "a"}), start + 1ms), Verdict::keep);
}

TEST(PurgeLog, APurgeFromTheFutureIsCutToTheSkewThatIsAllowed) {
  PurgeLog log({.max_skew = 1min});
  log.note({}, false, start + 24h, start);
  const EntryPtr entry = make_entry({.key = "k"});
  EXPECT_EQ(log.verdict(*entry, start + 1min), Verdict::drop);
  EXPECT_EQ(log.verdict(*entry, start + 1min + 1ms), Verdict::keep);
}

}  // namespace
}  // namespace brink::cache
