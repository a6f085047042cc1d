#include "cache/http/ranges.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

// "206 bytes 0-1/10", "416 bytes */10" or "200".
std::string part(Fields request, std::uint64_t length = 10, std::string_view method = "GET", unsigned status = 200) {
  const auto entry =
      stored(Head{"Cache-Control: max-age=60", "ETag: \"a\"", "Last-Modified: " + date_at(-9s), "Date: " + date_at(0s)},
             status);
  const Part result = requested_part({method, "", request}, *entry, length, noon);
  if (result.kind == Part::Kind::whole) return "200";
  return (result.kind == Part::Kind::partial ? "206 " : "416 ") + content_range(result, length);
}

std::string range(const std::string& text, std::uint64_t length = 10) { return part(Head{"Range: " + text}, length); }

TEST(Ranges, OneRangeMakesAPart) {
  EXPECT_EQ(range("bytes=0-1"), "206 bytes 0-1/10");
  EXPECT_EQ(range("bytes=1-"), "206 bytes 1-9/10");
  EXPECT_EQ(range("bytes=-1"), "206 bytes 9-9/10");
  EXPECT_EQ(range("bytes=-99"), "206 bytes 0-9/10");
  EXPECT_EQ(range("Bytes=9-9"), "206 bytes 9-9/10");
  EXPECT_EQ(range("bytes=5-99999999999999999999999999"), "206 bytes 5-9/10");
}

TEST(Ranges, WhatLiesBehindTheEndIsUnsatisfiable) {
  EXPECT_EQ(range("bytes=10-"), "416 bytes */10");
  EXPECT_EQ(range("bytes=99999999999999999999999999-"), "416 bytes */10");
  EXPECT_EQ(range("bytes=-0"), "416 bytes */10");
  EXPECT_EQ(range("bytes=0-", 0), "416 bytes */0");
  EXPECT_EQ(range("bytes=-5", 0), "416 bytes */0");
}

TEST(Ranges, AnythingElseMakesTheWhole) {
  for (const char* text : {"bytes=0-1,3-4", "bytes=2-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "lines=0-1",
                           "bytes 0-1", "bytes=0-1x", "bytes=+0-1", "bytes=0--1", "", "=0-1"}) {
    EXPECT_EQ(range(text), "200") << text;
  }
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "Range: bytes=2-3"}), "200");
  EXPECT_EQ(part(Head{"Range: bytes=0-1"}, 10, "HEAD"), "200");
  EXPECT_EQ(part(Head{"Range: bytes=0-1"}, 10, "GET", 404), "200");
}

TEST(Ranges, IfRangeMustNameThisVeryResponse) {
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: \"a\""}), "206 bytes 0-1/10");
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: W/\"a\""}), "200");
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: \"b\""}), "200");
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: " + date_at(-9s)}), "206 bytes 0-1/10");
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: " + date_at(-8s)}), "200");
  EXPECT_EQ(part(Head{"Range: bytes=0-1", "If-Range: x"}), "200");
  EXPECT_EQ(part(Head{"Range: bytes=10-", "If-Range: \"b\""}), "200");
}

TEST(Ranges, ALastChangeInTheSecondOfTheResponseIsTooNear) {
  const auto entry = stored(Head{"Last-Modified: " + date_at(0s), "Date: " + date_at(0s)});
  const Head head{"Range: bytes=0-1", "If-Range: " + date_at(0s)};
  EXPECT_EQ(requested_part(get(head), *entry, 10, noon).kind, Part::Kind::whole);
}

}  // namespace
}  // namespace brink::cache::http
