#include "cache/http/validation.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

Response later(unsigned status, Fields fields) { return {status, fields, noon + 100s, noon + 100s}; }
Updated updated(const Entry& entry, Fields news) { return update(entry, get(), later(304, news)); }
std::string_view value(const Updated& result, std::string_view name) {
  const Field* field = result.entry->find(name);
  return field ? field->value : "(none)";
}

const std::string date = "Date: " + date_at(0s), later_date = "Date: " + date_at(100s);

TEST(Validation, A304RenewsFieldsAndFreshness) {
  const auto entry =
      stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", date, "X: 1", "Keep: 1", "Content-Type: text/plain"});
  const Updated result = updated(
      *entry, Head{"ETag: \"a\"", later_date, "cache-control: max-age=50", "x: 2", "Y: 3", "Content-Type: text/html"});
  EXPECT_TRUE(result.storing.store);
  EXPECT_EQ(value(result, "x"), "2");
  EXPECT_EQ(value(result, "y"), "3");
  EXPECT_EQ(value(result, "keep"), "1");
  EXPECT_EQ(value(result, "content-type"), "text/html");
  EXPECT_EQ(value(result, "date"), date_at(100s));
  EXPECT_EQ(result.entry->body, entry->body);
  EXPECT_EQ(result.entry->status, 200U);
  EXPECT_EQ(result.entry->url, entry->url);
  EXPECT_EQ(result.entry->freshness.ttl(noon + 100s), 50s);
  EXPECT_EQ(result.entry->useful_until, noon + 150s + 1h);
  EXPECT_EQ(entry->find("x")->value, "1");
}

TEST(Validation, WhatBelongsToTheBodyStays) {
  for (const char* name : {"Content-Encoding", "Content-MD5", "Content-Range", "Content-Digest"}) {
    const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", std::string(name) + ": old"});
    EXPECT_EQ(value(updated(*entry, Head{"ETag: \"a\"", std::string(name) + ": new"}), name), "old") << name;
  }
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\""});
  EXPECT_EQ(value(updated(*entry, Head{"Content-Length: 5", "Connection: x", "x: 1", "Age: 1"}), "content-length"),
            "(none)");
}

TEST(Validation, RepeatedFieldsAreReplacedTogether) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", "Set-Cookie: a=1", "Set-Cookie: b=1"});
  const Updated result = updated(*entry, Head{"Set-Cookie: a=2", "Set-Cookie: c=2"});
  EXPECT_NE(result.entry->head.find("Set-Cookie: a=2\r\nSet-Cookie: c=2\r\n"), std::string::npos);
  EXPECT_EQ(result.entry->head.find("=1"), std::string::npos);
}

TEST(Validation, A304WithoutADateIsOfNow) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", date});
  const Updated result = updated(*entry, Head{"ETag: \"a\""});
  EXPECT_EQ(result.entry->freshness.ttl(noon + 100s), 2s);
  EXPECT_EQ(value(result, "date"), date_at(100s));
}

TEST(Validation, TheAgeOfA304Counts) {
  const auto entry = stored(Head{"Cache-Control: max-age=20", "ETag: \"a\"", date});
  const Updated result = updated(*entry, Head{"Age: 5", later_date});
  EXPECT_EQ(result.entry->freshness.ttl(noon + 100s), 15s);
  EXPECT_EQ(value(result, "age"), "(none)");
}

TEST(Validation, AnotherEntityTagChangesNothingButTheDate) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", date, "X: 1"});
  const Updated result = updated(*entry, Head{"ETag: \"b\"", later_date, "X: 2", "Cache-Control: max-age=50"});
  EXPECT_EQ(value(result, "etag"), "\"a\"");
  EXPECT_EQ(value(result, "x"), "1");
  EXPECT_EQ(result.entry->freshness.ttl(noon + 100s), 2s);
}

TEST(Validation, A304SelectsByItsValidator) {
  const auto entry = stored(Head{"ETag: \"a\"", "Last-Modified: " + date_at(-9s)});
  EXPECT_TRUE(is_selected_by(Head{"ETag: \"a\""}, *entry));
  EXPECT_TRUE(is_selected_by(Head{"ETag: W/\"a\"", "Last-Modified: " + date_at(0s)}, *entry));
  EXPECT_TRUE(is_selected_by(Head{"Last-Modified: " + date_at(-9s)}, *entry));
  EXPECT_TRUE(is_selected_by(Head{}, *entry));
  EXPECT_FALSE(is_selected_by(Head{"ETag: \"b\""}, *entry));
  EXPECT_FALSE(is_selected_by(Head{"Last-Modified: " + date_at(0s)}, *entry));
}

TEST(Validation, A304MayForbidToKeepIt) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", "a: 1"});
  EXPECT_FALSE(updated(*entry, Head{"Cache-Control: no-store"}).storing.store);
  EXPECT_FALSE(updated(*entry, Head{"Vary: *"}).storing.store);
  EXPECT_EQ(value(updated(*entry, Head{"Cache-Control: max-age=5, no-cache=\"A\""}), "a"), "(none)");
}

TEST(Validation, WhatMayNotBeKeptStillHasAnAge) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\""});
  const Updated result = updated(*entry, Head{"Cache-Control: no-store", "Age: 7"});
  EXPECT_EQ(result.entry->freshness.age(noon + 101s), 8s);
}

TEST(Validation, TagsFollowTheFields) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", "Cache-Tag: a"});
  EXPECT_EQ(updated(*entry, Head{"Cache-Tag: b"}).entry->tags, std::vector<std::string>{"b"});
  EXPECT_EQ(updated(*entry, Head{}).entry->tags, std::vector<std::string>{"a"});
}

HeadEffect head(Fields fields, unsigned status = 200) {
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", "Last-Modified: " + date_at(-9s)});
  return effect_of_head(later(status, fields), *entry);
}

TEST(Validation, AHeadThatAgreesFreshensTheStoredResponse) {
  EXPECT_EQ(head(Head{"ETag: \"a\""}), HeadEffect::update);
  EXPECT_EQ(head(Head{"Last-Modified: " + date_at(-9s), "Content-Length: 10"}), HeadEffect::update);
  EXPECT_EQ(head(Head{"Content-Length: 10"}), HeadEffect::none);
  EXPECT_EQ(head(Head{}), HeadEffect::none);
  const auto entry = stored(Head{"Cache-Control: max-age=2", "ETag: \"a\"", "X: 1", "Keep: 1"});
  const Updated result =
      update(*entry, get(), later(200, Head{"Cache-Control: max-age=1000", "X: 2", "Content-Length: 10"}));
  EXPECT_EQ(result.entry->freshness.ttl(noon + 100s), 1000s);
  EXPECT_EQ(value(result, "x"), "2");
  EXPECT_EQ(value(result, "keep"), "1");
}

TEST(Validation, AHeadThatDiffersMakesItStale) {
  EXPECT_EQ(head(Head{"ETag: \"b\""}), HeadEffect::invalidate);
  EXPECT_EQ(head(Head{"ETag: \"a\"", "Last-Modified: " + date_at(0s)}), HeadEffect::invalidate);
  EXPECT_EQ(head(Head{"ETag: \"a\"", "Content-Length: 11"}), HeadEffect::invalidate);
  EXPECT_EQ(head(Head{"Content-Length: x"}), HeadEffect::invalidate);
  EXPECT_EQ(head(Head{"ETag: \"b\""}, 404), HeadEffect::none);
}

}  // namespace
}  // namespace brink::cache::http
