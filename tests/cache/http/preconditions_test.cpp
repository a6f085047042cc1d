#include "cache/http/preconditions.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

bool has_it(const Entry& entry, Fields request) { return is_not_modified(get(request), entry, noon); }

TEST(Preconditions, AnEntityTagOfTheListMatches) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "ETag: \"a,b\""});
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: \"a,b\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: \"1\", \"a,b\" ,\"2\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: \"1\"", "If-None-Match: W/\"a,b\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: *"}));
  EXPECT_FALSE(has_it(*entry, Head{"If-None-Match: \"a\", \"b\""}));
  EXPECT_FALSE(has_it(*entry, Head{"If-None-Match: a,b"}));
  EXPECT_FALSE(has_it(*entry, Head{"If-None-Match:"}));
}

TEST(Preconditions, ABackslashInAnEntityTagIsACharacter) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", R"(ETag: "a\")"});
  EXPECT_TRUE(has_it(*entry, Head{R"(If-None-Match: "x\", "a\")"}));
}

TEST(Preconditions, WeaknessMattersOnlyToTheStrongComparison) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "ETag: W/\"a\""});
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: W/\"a\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: \"a\""}));
  EXPECT_FALSE(same_strongly("W/\"a\"", "W/\"a\""));
  EXPECT_FALSE(same_strongly("", ""));
  EXPECT_TRUE(same_strongly("\"a\"", "\"a\""));
}

TEST(Preconditions, AWithoutTagAnyTagDiffersButTheStar) {
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  EXPECT_FALSE(has_it(*entry, Head{"If-None-Match: \"a\", , \"\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-None-Match: *"}));
}

TEST(Preconditions, DatesCountWhereThereAreNoTags) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "ETag: \"a\"", "Last-Modified: " + date_at(-3000s)});
  EXPECT_TRUE(has_it(*entry, Head{"If-Modified-Since: " + date_at(-3000s)}));
  EXPECT_TRUE(has_it(*entry, Head{"If-Modified-Since: " + date_at(-2000s)}));
  EXPECT_FALSE(has_it(*entry, Head{"If-Modified-Since: " + date_at(-3001s)}));
  EXPECT_TRUE(has_it(*entry, Head{"If-Modified-Since: Tuesday, 01-Dec-26 12:00:00 GMT"}));
  EXPECT_FALSE(has_it(*entry, Head{"If-Modified-Since: now"}));
  EXPECT_FALSE(has_it(*entry, Head{"If-Modified-Since: " + date_at(0s), "If-None-Match: \"b\""}));
  EXPECT_TRUE(has_it(*entry, Head{"If-Modified-Since: " + date_at(-9000s), "If-None-Match: \"a\""}));
}

TEST(Preconditions, DateStandsInForLastModified) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "Date: " + date_at(0s)});
  EXPECT_TRUE(has_it(*entry, Head{"If-Modified-Since: " + date_at(0s)}));
  EXPECT_FALSE(has_it(*entry, Head{"If-Modified-Since: " + date_at(-3000s)}));
}

TEST(Preconditions, OnlyReadsOfAStored200AreAnsweredSo) {
  const Head tag{"If-None-Match: \"a\""};
  const auto entry = stored(Head{"Cache-Control: max-age=60", "ETag: \"a\""});
  EXPECT_TRUE(is_not_modified({"HEAD", "", tag}, *entry, noon));
  EXPECT_FALSE(is_not_modified({"POST", "", tag}, *entry, noon));
  EXPECT_FALSE(has_it(*stored(Head{"Cache-Control: max-age=60", "ETag: \"a\""}, 404), tag));
}

TEST(Preconditions, A304HoldsWhatDoesNotDescribeTheBody) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "ETag: \"a\""});
  for (const char* name : {"ETag", "Date", "Cache-Control", "Vary", "Expires", "Content-Location", "Set-Cookie"}) {
    EXPECT_TRUE(belongs_in_304(name, *entry)) << name;
  }
  for (const char* name : {"Content-Type", "content-encoding", "Content-Length", "Last-Modified"}) {
    EXPECT_FALSE(belongs_in_304(name, *entry)) << name;
  }
  EXPECT_TRUE(belongs_in_304("Last-Modified", *stored(Head{"Last-Modified: " + date_at(-5s)})));
}

TEST(Preconditions, AValidationAsksWithWhatIsStoredAsItWasSent) {
  const auto entry = stored(Head{"ETag: W/odd", "Last-Modified: Thu, 1 Jan"});
  const auto fields = validation_fields(*entry);
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].name, "If-None-Match");
  EXPECT_EQ(fields[0].value, "W/odd");
  EXPECT_EQ(fields[1].name, "If-Modified-Since");
  EXPECT_EQ(fields[1].value, "Thu, 1 Jan");
  EXPECT_TRUE(validation_fields(*stored(Head{"Cache-Control: max-age=1"})).empty());
  EXPECT_TRUE(validation_fields(*stored(Head{"Cache-Control: max-age=1", "ETag: \"a\""}, 404)).empty());
}

TEST(Preconditions, AFillAsksForTheWholeResponse) {
  for (const char* name : {"If-None-Match", "if-modified-since", "Range", "If-Range"})
    EXPECT_TRUE(is_left_out_of_fill(name));
  for (const char* name : {"If-Match", "If-Unmodified-Since", "Accept"}) EXPECT_FALSE(is_left_out_of_fill(name));
}

}  // namespace
}  // namespace brink::cache::http
