#include "cache/http/using.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

Use use(const Entry& entry, Duration after, Fields request = {}) {
  return decide(get(request), entry, noon + after).use;
}

TEST(Using, WithoutAStoredResponseARequestIsSentOn) {
  EXPECT_EQ(without_entry(get()).use, Use::fetch);
  EXPECT_EQ(without_entry(get()).forward, Forward::uri_miss);
  EXPECT_EQ(without_entry(get(), Forward::vary_miss).forward, Forward::vary_miss);
  EXPECT_EQ(without_entry({"HEAD", "", {}}).use, Use::fetch);
  EXPECT_EQ(without_entry(get(Head{"Cache-Control: only-if-cached"})).use, Use::refuse);
}

TEST(Using, SomeRequestsPassByTheCache) {
  for (const char* method : {"POST", "PUT", "OPTIONS", "get", "M-SEARCH"}) {
    EXPECT_EQ(without_entry({method, "", {}}).use, Use::bypass) << method;
    EXPECT_EQ(without_entry({method, "", {}}).forward, Forward::method) << method;
  }
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: no-store"}), Use::bypass);
  EXPECT_EQ(use(*entry, 0s, Head{"If-Match: \"a\""}), Use::bypass);
  EXPECT_EQ(use(*entry, 0s, Head{"If-Unmodified-Since: " + date_at(0s)}), Use::bypass);
}

TEST(Using, FreshIsServedAndStaleIsValidated) {
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  EXPECT_EQ(use(*entry, 59s), Use::serve);
  EXPECT_EQ(use(*entry, 60s), Use::validate);
  EXPECT_EQ(decide(get(), *entry, noon + 60s).forward, Forward::stale);
  EXPECT_EQ(use(*entry, 60s, Head{"Cache-Control: only-if-cached"}), Use::refuse);
  EXPECT_EQ(use(*entry, 59s, Head{"Cache-Control: only-if-cached"}), Use::serve);
}

TEST(Using, NoCacheOfTheResponseIsValidatedEachTime) {
  const auto entry = stored(Head{"Cache-Control: no-cache, max-age=60, stale-while-revalidate=60", "ETag: \"a\""});
  EXPECT_EQ(use(*entry, 0s), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: max-stale"}), Use::validate);
}

TEST(Using, StaleIsServedWhileItIsRefreshed) {
  const auto entry = stored(Head{"Cache-Control: max-age=60, stale-while-revalidate=30"});
  EXPECT_EQ(use(*entry, 59s), Use::serve);
  EXPECT_EQ(use(*entry, 60s), Use::serve_and_refresh);
  EXPECT_EQ(use(*entry, 89s), Use::serve_and_refresh);
  EXPECT_EQ(use(*entry, 90s), Use::validate);
  const auto strict = stored(Head{"Cache-Control: max-age=60, stale-while-revalidate=30, must-revalidate"});
  EXPECT_EQ(use(*strict, 60s), Use::validate);
}

TEST(Using, ASoftPurgeMakesItStale) {
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  const auto refreshed = stored(Head{"Cache-Control: max-age=60, stale-while-revalidate=30"});
  entry->soft_purged = refreshed->soft_purged = true;
  EXPECT_EQ(use(*entry, 0s), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: max-stale"}), Use::validate);
  EXPECT_EQ(use(*refreshed, 0s), Use::serve_and_refresh);
}

TEST(Using, ClientsMayWantANewerResponse) {
  const auto entry = stored(Head{"Cache-Control: max-age=3600", "Age: 1800"});
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: max-age=600"}), Use::validate);
  EXPECT_EQ(decide(get(Head{"Cache-Control: max-age=600"}), *entry, noon).forward, Forward::request);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: max-age=1800"}), Use::serve);
  EXPECT_EQ(use(*entry, 1s, Head{"Cache-Control: max-age=1800"}), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: min-fresh=1800"}), Use::serve);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: min-fresh=1801"}), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Cache-Control: no-cache"}), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Pragma: no-cache"}), Use::validate);
  EXPECT_EQ(use(*entry, 0s, Head{"Pragma: no-cache", "Cache-Control: foo"}), Use::serve);
  EXPECT_EQ(use(*stored(Head{"Cache-Control: max-age=60"}), 0s, Head{"Cache-Control: max-age=0"}), Use::validate);
}

TEST(Using, ClientsMayTakeAStaleOne) {
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  EXPECT_EQ(use(*entry, 70s, Head{"Cache-Control: max-stale=10"}), Use::serve);
  EXPECT_EQ(use(*entry, 71s, Head{"Cache-Control: max-stale=10"}), Use::validate);
  EXPECT_EQ(use(*entry, 9999s, Head{"Cache-Control: max-stale"}), Use::serve);
  EXPECT_EQ(use(*entry, 70s, Head{"Cache-Control: max-age=60, max-stale=10"}), Use::serve);
  EXPECT_EQ(use(*entry, 70s, Head{"Cache-Control: max-age=0, max-stale"}), Use::serve);
  EXPECT_EQ(use(*stored(Head{"Cache-Control: max-age=60, must-revalidate"}), 61s, Head{"Cache-Control: max-stale"}),
            Use::validate);
  EXPECT_EQ(use(*stored(Head{"Cache-Control: s-maxage=60"}), 61s, Head{"Cache-Control: max-stale"}), Use::validate);
}

TEST(Using, WhatClientsWantCanBePassedOver) {
  const auto entry = stored(Head{"Cache-Control: max-age=60"});
  UseOptions options;
  options.heed_request = false;
  EXPECT_EQ(decide(get(Head{"Cache-Control: no-cache, no-store"}), *entry, noon, options).use, Use::serve);
}

bool on_error(const Entry& entry, unsigned status, Duration after, Fields request = {}) {
  return may_serve_on_error(get(request), entry, status, noon + after);
}

TEST(Using, StaleIfErrorAnswersForAFailedBackend) {
  const auto entry = stored(Head{"Cache-Control: max-age=2, stale-if-error=60"});
  for (const unsigned status : {0U, 500U, 502U, 503U, 504U}) EXPECT_TRUE(on_error(*entry, status, 61s)) << status;
  for (const unsigned status : {200U, 404U, 429U, 501U, 505U}) EXPECT_FALSE(on_error(*entry, status, 61s)) << status;
  EXPECT_FALSE(on_error(*entry, 503, 62s));
  EXPECT_TRUE(on_error(*entry, 0, 62s));  // nothing answers: as without the directive
}

TEST(Using, WhileNothingAnswersStaleIsServedForATime) {
  const auto entry = stored(Head{"Cache-Control: max-age=2"});
  EXPECT_TRUE(on_error(*entry, 0, 2s + 59min));
  EXPECT_FALSE(on_error(*entry, 0, 2s + 1h));
  EXPECT_FALSE(on_error(*entry, 503, 3s));
  EXPECT_TRUE(on_error(*entry, 503, 3s, Head{"Cache-Control: stale-if-error=5"}));
  EXPECT_FALSE(on_error(*entry, 503, 8s, Head{"Cache-Control: stale-if-error=5"}));
  EXPECT_FALSE(on_error(*entry, 0, 3s, Head{"Cache-Control: no-cache"}));
}

TEST(Using, StaleIsNeverServedWhereTheResponseForbidsIt) {
  for (const char* ban : {"must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=2"}) {
    const auto entry = stored(Head{std::string("Cache-Control: max-age=2, stale-if-error=60, ") + ban, "ETag: \"a\""});
    EXPECT_FALSE(on_error(*entry, 0, 3s)) << ban;
    EXPECT_FALSE(on_error(*entry, 503, 3s, Head{"Cache-Control: stale-if-error=60"})) << ban;
  }
}

TEST(Using, AgeIsSentInWholeSeconds) {
  const auto entry = stored(Head{"Cache-Control: max-age=60", "Age: 30"});
  EXPECT_EQ(age_to_send(*entry, noon + 2900ms), 32s);
}

}  // namespace
}  // namespace brink::cache::http
