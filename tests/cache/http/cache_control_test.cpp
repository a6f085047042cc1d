#include "cache/http/cache_control.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

ResponseDirectives of(const std::string& value) {
  return response_directives(Head{"Cache-Control: " + value}, default_targets());
}

TEST(CacheControl, DirectivesAreReadWhateverTheirCaseAndNeighbours) {
  const auto result = of("foobar, MaX-aGe=3600, No-StOrE , ext=\"a, max-age=1\", must-revalidate");
  EXPECT_EQ(result.max_age, 3600s);
  EXPECT_TRUE(result.no_store);
  EXPECT_TRUE(result.must_revalidate);
  EXPECT_FALSE(result.is_private);
  EXPECT_FALSE(result.targeted);
}

TEST(CacheControl, NothingInsideAQuotedStringIsADirective) {
  EXPECT_EQ(of("extension=\"max-age=3600\", max-age=1").max_age, 1s);
  EXPECT_EQ(of("max-age=\"1\", extension=\"max-age=3600\"").max_age, 1s);
  EXPECT_FALSE(of("extension=\"no-store, private\"").no_store);
}

TEST(CacheControl, AgesMayBeQuotedButNothingElse) {
  EXPECT_EQ(of("max-age=\"3600\"").max_age, 3600s);
  EXPECT_EQ(of("max-age=003600").max_age, 3600s);
  for (const char* bad : {"max-age", "max-age=", "max-age='3600'", "max-age=-3600", "max-age=3600.0", "max-age=a3600",
                          "max-age=3600a", "max-age =3600", "max-age= 3600", "max-age=\"3600", "max-age=3600;x"}) {
    EXPECT_EQ(of(bad).max_age, 0s) << bad;
  }
}

TEST(CacheControl, TheFirstOfARepeatedDirectiveCounts) {
  EXPECT_EQ(of("max-age=1, max-age=1800").max_age, 1s);
  EXPECT_EQ(
      response_directives(Head{"Cache-Control: max-age=1800", "cache-control: max-age=1, s-maxage=5"}, {}).max_age,
      1800s);
}

TEST(CacheControl, RestrictionsHoldHoweverTheyAreWritten) {
  EXPECT_TRUE(of("no-store; max-age=5").no_store);
  EXPECT_TRUE(of("private = x").is_private);
  EXPECT_TRUE(of("no-cache=\"\"").no_cache);
  EXPECT_TRUE(of("no-cache=\"a").no_cache);
  EXPECT_FALSE(of("public; x").is_public);
}

TEST(CacheControl, FieldNamesNarrowNoCacheAndPrivate) {
  const auto result = of("no-cache=\"A, b\", private=\"Set-Cookie\", max-age=5");
  EXPECT_FALSE(result.no_cache);
  EXPECT_FALSE(result.is_private);
  EXPECT_EQ(result.withheld, (std::vector<std::string>{"a", "b", "set-cookie"}));
  EXPECT_TRUE(of("no-cache=\"a\", no-cache").no_cache);
}

TEST(CacheControl, ATargetedFieldGoesBeforeCacheControl) {
  const Head head{"Cache-Control: no-store, max-age=1", "CDN-Cache-Control: max-age=60, must-revalidate"};
  const auto result = response_directives(head, default_targets());
  EXPECT_TRUE(result.targeted);
  EXPECT_FALSE(result.no_store);
  EXPECT_TRUE(result.must_revalidate);
  EXPECT_EQ(result.max_age, 60s);
  EXPECT_TRUE(response_directives(head, {}).no_store);
}

TEST(CacheControl, TheMostSpecificTargetedFieldWins) {
  const Head head{"CDN-Cache-Control: max-age=60", "Brink-Cache-Control: max-age=10"};
  EXPECT_EQ(response_directives(head, default_targets()).max_age, 10s);
}

TEST(CacheControl, EmptyAndBrokenTargetedFieldsArePassedOver) {
  for (const char* bad : {"", "max-age=60,", "max-age=60 x", "Max-Age=60", "max-age=", "max-age=\"60", "max-age=60;;",
                          "max-age=1.2345", "max-age=1234567890123456", "=5", "a=(1 2", "max-age =60"}) {
    const Head head{std::string("CDN-Cache-Control: ") + bad, "Cache-Control: max-age=5"};
    const auto result = response_directives(head, default_targets());
    EXPECT_FALSE(result.targeted) << bad;
    EXPECT_EQ(result.max_age, 5s) << bad;
  }
}

TEST(CacheControl, TargetedFieldsTakeAllOfTheDictionaryGrammar) {
  const Head head{"CDN-Cache-Control: a=(1 \"x\" tok;p=1);q, b=:aGk=:, c=?0, no-store=?0",
                  "CDN-Cache-Control: d=1.5,max-age=7;x, e=*t/o:k, f=@12, g=%\"a\""};
  const auto result = response_directives(head, default_targets());
  EXPECT_TRUE(result.targeted);
  EXPECT_EQ(result.max_age, 7s);
  EXPECT_FALSE(result.no_store);
}

TEST(CacheControl, ATargetedValueOfTheWrongTypePermitsNothing) {
  EXPECT_EQ(response_directives(Head{"CDN-Cache-Control: max-age=\"60\""}, default_targets()).max_age, 0s);
  EXPECT_EQ(response_directives(Head{"CDN-Cache-Control: max-age=60.5"}, default_targets()).max_age, 0s);
  EXPECT_TRUE(response_directives(Head{"CDN-Cache-Control: no-store=5"}, default_targets()).no_store);
  EXPECT_FALSE(response_directives(Head{"CDN-Cache-Control: public=5"}, default_targets()).is_public);
}

TEST(CacheControl, RequestsSayWhatTheyAccept) {
  const auto result =
      request_directives(Head{"Cache-Control: max-age=5, min-fresh=3, max-stale, only-if-cached, stale-if-error=9"});
  EXPECT_EQ(result.max_age, 5s);
  EXPECT_EQ(result.min_fresh, 3s);
  EXPECT_EQ(result.max_stale, Duration::max());
  EXPECT_EQ(result.stale_if_error, 9s);
  EXPECT_TRUE(result.only_if_cached);
  EXPECT_FALSE(result.no_cache);
  EXPECT_EQ(request_directives(Head{"Cache-Control: max-stale=7"}).max_stale, 7s);
  EXPECT_EQ(request_directives(Head{"Cache-Control: max-stale=x"}).max_stale, 0s);
}

TEST(CacheControl, PragmaCountsOnlyWithoutCacheControl) {
  EXPECT_TRUE(request_directives(Head{"Pragma: No-Cache"}).no_cache);
  EXPECT_FALSE(request_directives(Head{"Pragma: no-cache", "Cache-Control: foo"}).no_cache);
  EXPECT_FALSE(request_directives(Head{"Pragma: other"}).no_cache);
}

}  // namespace
}  // namespace brink::cache::http
