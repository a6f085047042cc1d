#include "cache/http/storing.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

// "" when it may be stored.
std::string why_not(Fields fields, unsigned status = 200, const Request& request = get()) {
  const Storing result = may_store(request, answer(status, fields));
  EXPECT_EQ(result.store, std::string(result.reason).empty());
  return result.reason;
}

TEST(Storing, ALifetimeOrAValidatorMakesAResponseWorthKeeping) {
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}), "");
  EXPECT_EQ(why_not(Head{"Expires: " + date_at(5s)}), "");
  EXPECT_EQ(why_not(Head{"ETag: \"a\""}), "");
  EXPECT_EQ(why_not(Head{"Expires: 0", "Last-Modified: " + date_at(-5s)}), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=0, stale-while-revalidate=5"}), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=0"}), "stale, without a validator");
  EXPECT_EQ(why_not(Head{"Cache-Control: no-cache, max-age=5"}), "stale, without a validator");
  EXPECT_EQ(why_not(Head{"Cache-Control: s-maxage=5", "Age: 9"}), "stale, without a validator");
  EXPECT_EQ(why_not(Head{}), "stale, without a validator");
}

TEST(Storing, NoStoreAndPrivateForbidIt) {
  EXPECT_EQ(why_not(Head{"Cache-Control: no-store, max-age=5", "Expires: " + date_at(5s)}), "no-store");
  EXPECT_EQ(why_not(Head{"Cache-Control: private, max-age=5"}), "private");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, private=\"a\""}), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Pragma: no-cache"}), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, 200, get(Head{"Cache-Control: no-store"})), "request no-store");
}

TEST(Storing, AnyFinalStatusWithALifetimeIsStored) {
  for (const unsigned status : {200U, 203U, 204U, 299U, 302U, 307U, 400U, 404U, 499U, 500U, 503U, 599U}) {
    EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, status), "") << status;
  }
}

TEST(Storing, PartsAndAnswersToConditionsAreNotStored) {
  for (const unsigned status : {100U, 101U, 199U, 206U, 304U, 412U, 416U, 600U, 999U, 0U}) {
    EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, status), "status") << status;
  }
}

TEST(Storing, StatusesThatSayNothingNeedALifetime) {
  EXPECT_EQ(why_not(Head{"Last-Modified: " + date_at(-500s)}, 201), "no lifetime");
  EXPECT_EQ(why_not(Head{"Last-Modified: " + date_at(-500s)}, 503), "no lifetime");
  EXPECT_EQ(why_not(Head{"Last-Modified: " + date_at(-500s)}, 404), "");
}

TEST(Storing, MustUnderstandGoesBeforeNoStore) {
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, must-understand"}, 599), "must-understand");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, must-understand, no-store"}, 200), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, must-understand, no-store"}, 299), "must-understand");
}

TEST(Storing, AuthorizedRequestsNeedPermission) {
  const Head authorized{"Authorization: Bearer x"};
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, 200, get(authorized)), "authorization");
  EXPECT_EQ(why_not(Head{"Expires: " + date_at(5s)}, 200, get(authorized)), "authorization");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, proxy-revalidate"}, 200, get(authorized)), "authorization");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, public"}, 200, get(authorized)), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5, must-revalidate"}, 200, get(authorized)), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: s-maxage=5"}, 200, get(authorized)), "");
}

TEST(Storing, APostIsStoredWhenItSaysThatItIsWhatGetWouldGive) {
  const Request post{"POST", "http://example.org/a", {}};
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Content-Location: /a"}, 200, post), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Content-Location: http://EXAMPLE.org:80/a"}, 200, post), "");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Content-Location: /b"}, 200, post), "method");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Content-Location: //other/a"}, 200, post), "method");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, 200, post), "method");
  EXPECT_EQ(why_not(Head{"ETag: \"a\"", "Content-Location: /a"}, 200, post), "method");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, 200, {"PUT", "http://example.org/a", {}}), "method");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5"}, 200, {"HEAD", "http://example.org/a", {}}), "method");
}

TEST(Storing, VaryStarIsNeverStored) {
  for (const char* star : {"*", "*, *", ", *", "*, Foo", "Foo, *"}) {
    EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", std::string("Vary: ") + star}), "vary *") << star;
  }
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Vary:", "Vary: *"}), "vary *");
}

TEST(Storing, TagsComeFromBothFields) {
  const Storing result =
      may_store(get(), answer(200, Head{"Cache-Control: max-age=5", "Surrogate-Key: b a  c", "Cache-Tag: d,a, e"}));
  EXPECT_EQ(result.tags, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
}

TEST(Storing, WhatCannotBeKeptWholeIsNotKept) {
  std::string many;
  for (int at = 0; at < 1025; ++at) many += "t" + std::to_string(at) + ",";
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Cache-Tag: " + many}), "too many tags");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Vary: " + many}), "too many vary names");
}

TEST(Storing, SurrogateControlIsPassedOver) {
  EXPECT_EQ(why_not(Head{"Surrogate-Control: max-age=5"}), "stale, without a validator");
  EXPECT_EQ(why_not(Head{"Cache-Control: max-age=5", "Surrogate-Control: no-store"}), "");
}

TEST(Storing, ItIsUsefulWhileItMayBeServedOrValidated) {
  const auto useful = [](Fields fields) { return may_store(get(), answer(200, fields)).useful_until - noon; };
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5"}), 5s + 1h);
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5, must-revalidate"}), 5s);
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5, must-revalidate", "ETag: \"a\""}), 5s + 1h);
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5, stale-if-error=7200"}), 5s + 2h);
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5, stale-while-revalidate=7200", "Age: 3"}), 2s + 2h);
  EXPECT_EQ(useful(Head{"Cache-Control: max-age=5, must-revalidate, stale-if-error=7200"}), 5s);
}

TEST(Storing, OptionsSpeakWhereTheResponseDoesNot) {
  StoreOptions options;
  options.stale_if_error = 30s;
  options.stale_while_revalidate = 20s;
  const auto silent = may_store(get(), answer(200, Head{"Cache-Control: max-age=5"}), options).freshness;
  EXPECT_EQ(silent.stale_if_error, 30s);
  EXPECT_EQ(silent.stale_while_revalidate, 20s);
  const auto told =
      may_store(get(), answer(200, Head{"Cache-Control: max-age=5, stale-if-error=0"}), options).freshness;
  EXPECT_EQ(told.stale_if_error, 0s);
}

TEST(StoredFields, FieldsOfTheConnectionAndFramingStayOut) {
  const Head head{"Connection: a, B",
                  "a: 1",
                  "b: 2",
                  "c: 3",
                  "Keep-Alive: 5",
                  "TE: x",
                  "Upgrade: x",
                  "Proxy-Connection: x",
                  "Proxy-Authenticate: x",
                  "Proxy-Authentication-Info: x",
                  "Proxy-Authorization: x",
                  "Transfer-Encoding: chunked",
                  "Content-Length: 5",
                  "Trailer: x",
                  "Age: 5",
                  "Date: " + date_at(0s),
                  "Set-Cookie: a=b",
                  "Content-Range: x"};
  EXPECT_EQ(stored_head(answer(200, head), {}),
            "c: 3\r\nDate: Tue, 01 Dec 2026 12:00:00 GMT\r\nSet-Cookie: a=b\r\nContent-Range: x\r\n");
}

TEST(StoredFields, ADateIsAddedWhereItIsMissing) {
  EXPECT_EQ(stored_head(answer(200, {}), {}), "Date: Tue, 01 Dec 2026 12:00:00 GMT\r\n");
}

TEST(StoredFields, FieldsThatNoCacheOrPrivateNameStayOut) {
  const Head head{"Cache-Control: no-cache=\"a\", private=\"B\"", "A: 1", "b: 2", "c: 3", "Date: x"};
  EXPECT_EQ(stored_head(answer(200, head), response_directives(head, {})),
            "Cache-Control: no-cache=\"a\", private=\"B\"\r\nc: 3\r\nDate: x\r\n");
}

TEST(StoredFields, NoLineCanBreakTheHead) {
  const std::vector<Field> fields = {{"a", "1\r\nb: 2"}, {"c d", "x"}, {"", "x"}, {"e", "y\tz"}, {"date", "\x80"}};
  EXPECT_EQ(stored_head(answer(200, fields), {}), "e: y\tz\r\ndate: \x80\r\n");
}

}  // namespace
}  // namespace brink::cache::http
