#include "cache/entry.hpp"

#include <gtest/gtest.h>

namespace brink::cache {
namespace {

using namespace std::chrono_literals;

TEST(Entry, FieldsAreFoundByNameWhateverTheCase) {
  Entry entry;
  entry.head = "Content-Type: text/plain\r\nETag:  \"a\" \r\nbroken\r\nx-empty:\r\n";
  entry.index_fields();
  ASSERT_EQ(entry.fields.size(), 3U);
  ASSERT_NE(entry.find("etag"), nullptr);
  EXPECT_EQ(entry.find("etag")->value, "\"a\"");
  EXPECT_EQ(entry.find("X-Empty")->value, "");
  EXPECT_EQ(entry.find("age"), nullptr);
}

TEST(Entry, AgeGrowsFromTheInitialAgeAndNeverShrinks) {
  Freshness freshness;
  freshness.response_time = WallTime(1000s);
  freshness.initial_age = 5s;
  freshness.lifetime = 20s;
  EXPECT_EQ(freshness.age(WallTime(1000s)), 5s);
  EXPECT_EQ(freshness.ttl(WallTime(1010s)), 5s);
  EXPECT_EQ(freshness.ttl(WallTime(1020s)), -5s);
  EXPECT_EQ(freshness.age(WallTime(900s)), 5s);  // the clock was set back
}

TEST(Entry, FootprintCountsItsBytes) {
  Entry entry;
  const std::size_t before = entry.footprint();
  entry.body.assign(100'000, 'x');
  EXPECT_GE(entry.footprint(), before + 99'900);
}

}  // namespace
}  // namespace brink::cache
