#include "cache/http/freshness.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

Freshness freshness(Fields fields, unsigned status = 200) {
  return freshness_of(answer(status, fields), response_directives(fields, default_targets()), 24h);
}

Duration ttl(Fields fields, unsigned status = 200) { return freshness(fields, status).ttl(noon); }

TEST(FreshnessOf, SMaxageThenMaxAgeThenExpiresThenAGuess) {
  const std::string expires = "Expires: " + date_at(300s), date = "Date: " + date_at(0s),
                    modified = "Last-Modified: " + date_at(-1000s);
  EXPECT_EQ(ttl(Head{"Cache-Control: max-age=20, s-maxage=10", expires, date, modified}), 10s);
  EXPECT_EQ(ttl(Head{"Cache-Control: max-age=20", expires, date, modified}), 20s);
  EXPECT_EQ(ttl(Head{"Cache-Control: max-age=20", "Expires: 0", date}), 20s);
  EXPECT_EQ(ttl(Head{expires, date, modified}), 300s);
  EXPECT_EQ(ttl(Head{date, modified}), 100s);
  EXPECT_EQ(ttl(Head{date}), 0s);
  EXPECT_EQ(ttl(Head{}), 0s);
}

TEST(FreshnessOf, ExpiresIsMeasuredAgainstDate) {
  EXPECT_EQ(freshness(Head{"Expires: " + date_at(300s), "Date: " + date_at(400s)}).lifetime, 0s);
  EXPECT_EQ(freshness(Head{"Expires: " + date_at(20s), "Date: " + date_at(10s)}).lifetime, 10s);
  EXPECT_EQ(freshness(Head{"Expires: " + date_at(10s), "Date: foo"}).lifetime, 10s);
  EXPECT_EQ(freshness(Head{"Expires: " + date_at(10s)}).lifetime, 10s);
}

TEST(FreshnessOf, ExpiresThatIsNoDateHasPassed) {
  for (const char* bad : {"0", "-1", "never", ""}) {
    EXPECT_EQ(ttl(Head{std::string("Expires: ") + bad, "Date: " + date_at(0s), "Last-Modified: " + date_at(-1000s)}),
              0s);
  }
}

TEST(FreshnessOf, ATargetedFieldMakesExpiresVoid) {
  EXPECT_EQ(ttl(Head{"CDN-Cache-Control: public", "Expires: " + date_at(300s)}), 0s);
  EXPECT_EQ(ttl(Head{"CDN-Cache-Control: max-age=7", "Expires: " + date_at(300s), "Cache-Control: s-maxage=9"}), 7s);
}

TEST(FreshnessOf, AgeAndDateMakeItOlder) {
  EXPECT_EQ(ttl(Head{"Cache-Control: max-age=3600", "Age: 600"}), 3000s);
  EXPECT_EQ(ttl(Head{"Cache-Control: max-age=3600", "Date: " + date_at(-7200s)}), -3600s);
  EXPECT_EQ(ttl(Head{"Date: " + date_at(-10s), "Expires: " + date_at(10s), "Age: 25"}), -5s);
  EXPECT_EQ(ttl(Head{"Date: " + date_at(10s), "Expires: " + date_at(20s), "Age: 15"}), -5s);
}

TEST(FreshnessOf, TheTimeThatTheResponseTookCountsAsAge) {
  const Head head{"Cache-Control: max-age=60", "Age: 10"};
  const Response response{200, head, noon - 4s, noon};
  EXPECT_EQ(freshness_of(response, response_directives(head, {}), 24h).initial_age, 14s);
}

TEST(FreshnessOf, ADateOfTheSameSecondIsNoAge) {
  const Head head{"Cache-Control: max-age=1", "Date: " + date_at(0s)};
  const Response response{200, head, noon + 900ms, noon + 900ms};
  EXPECT_EQ(freshness_of(response, response_directives(head, {}), 24h).initial_age, 0s);
}

TEST(FreshnessOf, AnAgeThatIsNoSingleNumberMakesItStale) {
  for (const char* bad : {"abc", "-7200", "7200.0", "7200,0", "0, 0", "7200;foo=bar", "7200;foo=111", ""}) {
    EXPECT_LE(ttl(Head{"Cache-Control: max-age=3600", std::string("Age: ") + bad}), 0s) << bad;
  }
  EXPECT_LE(ttl(Head{"Cache-Control: max-age=10000", "Age: 0", "Age: 0"}), 0s);
}

TEST(FreshnessOf, OnlySomeStatusesAreGuessedAt) {
  const Head head{"Last-Modified: " + date_at(-86400s), "Date: " + date_at(0s)};
  for (const unsigned status : {200U, 203U, 204U, 300U, 301U, 308U, 404U, 405U, 410U, 414U, 501U})
    EXPECT_EQ(ttl(head, status), 8640s);
  for (const unsigned status : {201U, 202U, 302U, 307U, 403U, 500U, 502U, 503U, 504U, 599U})
    EXPECT_EQ(ttl(head, status), 0s);
  const Head marked{"Last-Modified: " + date_at(-86400s), "Date: " + date_at(0s), "Cache-Control: public"};
  EXPECT_EQ(ttl(marked, 599), 8640s);
}

TEST(FreshnessOf, GuessesHaveALimitAndSpareCookies) {
  EXPECT_EQ(ttl(Head{"Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"}), 24h);
  EXPECT_EQ(ttl(Head{"Last-Modified: " + date_at(3600s)}), 0s);
  EXPECT_EQ(ttl(Head{"Last-Modified: " + date_at(-86400s), "Set-Cookie: a=b"}), 0s);
}

TEST(FreshnessOf, WhatForbidsToServeItStale) {
  EXPECT_TRUE(freshness(Head{"Cache-Control: max-age=1, must-revalidate"}).must_revalidate);
  EXPECT_TRUE(freshness(Head{"Cache-Control: max-age=1, proxy-revalidate"}).must_revalidate);
  EXPECT_TRUE(freshness(Head{"Cache-Control: s-maxage=1"}).must_revalidate);
  EXPECT_TRUE(freshness(Head{"Cache-Control: no-cache"}).always_validate);
  const auto plain =
      freshness(Head{"Cache-Control: max-age=1, stale-while-revalidate=5, stale-if-error=7, no-cache=\"a\""});
  EXPECT_FALSE(plain.must_revalidate || plain.always_validate);
  EXPECT_EQ(plain.stale_while_revalidate, 5s);
  EXPECT_EQ(plain.stale_if_error, 7s);
}

}  // namespace
}  // namespace brink::cache::http
