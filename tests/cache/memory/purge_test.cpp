// What a purge takes from the store, and how it travels.
#include "cache/memory/purge.hpp"

#include <gtest/gtest.h>

#include "cache/memory/purge_index.hpp"
#include "cache/memory/store.hpp"
#include "tests/cache/memory/entries.hpp"

namespace brink::cache {
namespace {

using Kind = Purge::Kind;

struct Purges : ::testing::Test {
  MemoryStore store{{64 * 1024 * 1024, 64 * 1024}};

  bool has(std::string_view key) { return store.find(key, start) != nullptr; }
  bool soft(std::string_view key) { return store.find(key, start)->soft_purged.load(); }
};

TEST_F(Purges, AUrlTakesAllItsVariantsAndTheirList) {
  store.insert(make_entry({.key = "list", .url = "http://a/x", .kind = Entry::Kind::variants}));
  store.insert(make_entry({.key = "gzip", .url = "http://a/x"}));
  store.insert(make_entry({.key = "plain", .url = "http://a/x"}));
  store.insert(make_entry({.key = "other", .url = "http://a/x?"}));
  EXPECT_EQ(store.purge({Kind::url, "http://a/x"}, false), 3U);
  EXPECT_FALSE(has("list") || has("gzip") || has("plain"));
  EXPECT_TRUE(has("other"));
  EXPECT_EQ(store.stats().purged, 3U);
  EXPECT_EQ(store.stats().evictions, 0U);
  EXPECT_EQ(store.purge({Kind::url, "http://a/x"}, false), 0U);
}

TEST_F(Purges, EachKindNamesItsOwnText) {
  store.insert(make_entry({.key = "u", .url = "same"}));
  store.insert(make_entry({.key = "r", .route = "same"}));
  store.insert(make_entry({.key = "m", .model = "same"}));
  store.insert(make_entry({.key = "t", .tags = {"other", "same"}}));
  for (const auto& [kind, key] :
       {std::pair(Kind::url, "u"), {Kind::route, "r"}, {Kind::model, "m"}, {Kind::tag, "t"}}) {
    EXPECT_TRUE(has(key));
    EXPECT_EQ(store.purge({kind, "same"}, false), 1U);
    EXPECT_FALSE(has(key));
  }
  EXPECT_EQ(store.stats().bytes, 0U);
}

TEST_F(Purges, NothingIsNamedByAnEmptyText) {
  store.insert(make_entry({.key = "k", .tags = {""}}));
  for (const Kind kind : {Kind::url, Kind::route, Kind::model, Kind::tag}) {
    EXPECT_EQ(store.purge({kind, ""}, false), 0U);
    EXPECT_EQ(store.purge({kind, "nobody"}, false), 0U);
  }
  EXPECT_TRUE(has("k"));
}

TEST_F(Purges, ASoftPurgeMarksAndKeeps) {
  store.insert(make_entry({.key = "a", .tags = {"t"}}));
  store.insert(make_entry({.key = "b", .tags = {"u"}}));
  EXPECT_EQ(store.purge({Kind::tag, "t"}, true), 1U);
  EXPECT_TRUE(soft("a"));
  EXPECT_FALSE(soft("b"));
  EXPECT_EQ(store.purge({}, true), 2U);
  EXPECT_TRUE(soft("b"));
  store.insert(make_entry({.key = "a", .tags = {"t"}}));  // fetched again
  EXPECT_FALSE(soft("a"));
}

TEST_F(Purges, ATagNamedTwiceCountsOnce) {
  store.insert(make_entry({.key = "k", .tags = {"t", "u", "t", "t"}}));
  EXPECT_EQ(store.purge({Kind::tag, "t"}, true), 1U);
  EXPECT_EQ(store.purge({Kind::tag, "t"}, false), 1U);
  EXPECT_EQ(store.purge({Kind::tag, "u"}, false), 0U);
}

// More than one batch in one shard.
TEST_F(Purges, AGroupOfManyEntriesGoesWhole) {
  store.resize({64 * 1024 * 1024, 64 * 1024 * 1024});
  for (int i = 0; i < 5000; ++i)
    store.insert(make_entry({.key = std::to_string(i), .tags = {i % 5 == 0 ? "no" : "yes"}}));
  EXPECT_EQ(store.purge({Kind::tag, "yes"}, false), 4000U);
  EXPECT_EQ(store.stats().entries, 1000U);
  EXPECT_EQ(store.purge({}, false), 1000U);
}

TEST_F(Purges, AnEvictedEntryLeavesItsGroups) {
  store.resize({100'000, 100'000});
  for (int i = 0; i < 1000; ++i) store.insert(make_entry({.key = std::to_string(i), .body = 1000, .tags = {"t"}}));
  const std::uint64_t left = store.stats().entries;
  EXPECT_LT(left, 100U);
  EXPECT_EQ(store.purge({Kind::tag, "t"}, false), left);
}

// What a purge walks is the group and nothing else; a group without members is gone.
TEST(PurgeIndex, AGroupHoldsItsMembersAlone) {
  PurgeIndex index(1);
  Node a(make_entry({.key = "a", .url = "u", .tags = {"t", "only a"}}), 1);
  Node b(make_entry({.key = "b", .url = "v", .tags = {"t"}}), 2);
  index.link(a);
  index.link(b);
  EXPECT_EQ(index.groups(), 4U);
  Group* group = index.find(Kind::tag, "t");
  ASSERT_NE(group, nullptr);
  ASSERT_EQ(group->members.size(), 2U);
  index.unlink(a);
  EXPECT_EQ(index.groups(), 2U);
  EXPECT_EQ(index.find(Kind::url, "u"), nullptr);
  ASSERT_EQ(group->members.size(), 1U);
  EXPECT_EQ(group->members.front().node, &b);
  index.unlink(b);
  EXPECT_EQ(index.groups(), 0U);
}

TEST(PurgeText, ReturnsAsItWent) {
  for (const Kind kind : {Kind::url, Kind::tag, Kind::route, Kind::model, Kind::all}) {
    for (const bool soft : {false, true}) {
      const std::string text = kind == Kind::all ? "" : std::string(" two  words\n\0\xff", 15);
      const PurgeNotice notice{{kind, text}, soft, start};
      const auto read = from_text(to_text(notice));
      ASSERT_TRUE(read.has_value()) << describe(read.error());
      EXPECT_EQ(*read, notice);
    }
  }
  EXPECT_EQ(to_text({{Kind::tag, "a b"}, true, WallTime(Duration(5))}), "brink-purge/1 tag soft 5 a b");
  EXPECT_EQ(to_text({{}, false, WallTime(Duration(0))}), "brink-purge/1 all hard 0");
}

TEST(PurgeText, HostileTextIsAnError) {
  using Error = PurgeTextError;
  const std::pair<std::string, Error> cases[] = {
      {"", Error::unknown_version},
      {"brink-purge/2 all hard 0", Error::unknown_version},
      {"brink-purge/1", Error::bad_kind},
      {"brink-purge/1  all hard 0", Error::bad_kind},
      {"brink-purge/1 URL hard 0 x", Error::bad_kind},
      {"brink-purge/1 url", Error::bad_mode},
      {"brink-purge/1 url mild 0 x", Error::bad_mode},
      {"brink-purge/1 url hard", Error::bad_time},
      {"brink-purge/1 url hard 12x x", Error::bad_time},
      {"brink-purge/1 url hard -1 x", Error::bad_time},
      {"brink-purge/1 url hard 99999999999999999999 x", Error::bad_time},
      {"brink-purge/1 url hard 0", Error::bad_text},
      {"brink-purge/1 url hard 0 ", Error::bad_text},
      {"brink-purge/1 all hard 0 x", Error::bad_text},
      {std::string("\0\xff\x80", 3), Error::unknown_version},
      {"brink-purge/1 url hard 0 " + std::string(max_purge_text, 'x'), Error::too_long},
  };
  for (const auto& [text, error] : cases) {
    const auto read = from_text(text);
    ASSERT_TRUE(read.has_error()) << text;
    EXPECT_EQ(read.error(), error) << text;
    EXPECT_FALSE(describe(read.error()).empty());
  }
}

}  // namespace
}  // namespace brink::cache
