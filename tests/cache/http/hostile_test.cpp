// Bytes that no sender should send, through every rule: none may crash, read out of bounds or break a head.
#include <gtest/gtest.h>

#include <random>

#include "cache/http/cache_status.hpp"
#include "cache/http/invalidation.hpp"
#include "cache/http/preconditions.hpp"
#include "cache/http/ranges.hpp"
#include "cache/http/url.hpp"
#include "cache/http/validation.hpp"
#include "cache/http/vary.hpp"
#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

constexpr std::array<const char*, 24> names = {"Cache-Control",
                                               "CDN-Cache-Control",
                                               "Pragma",
                                               "Expires",
                                               "Date",
                                               "Age",
                                               "Last-Modified",
                                               "ETag",
                                               "Vary",
                                               "If-None-Match",
                                               "If-Range",
                                               "Range",
                                               "Location",
                                               "Content-Location",
                                               "Connection",
                                               "Surrogate-Key",
                                               "Cache-Tag",
                                               "Accept-Language",
                                               "Accept-Encoding",
                                               "If-Modified-Since",
                                               "Set-Cookie",
                                               "Content-Length",
                                               "Authorization",
                                               "Foo"};
constexpr std::array<const char*, 40> pieces = {"max-age=",
                                                "s-maxage",
                                                "no-cache",
                                                "private",
                                                "=",
                                                "\"",
                                                "\\",
                                                ",",
                                                ";",
                                                " ",
                                                "\t",
                                                "99999999999999999999",
                                                "1",
                                                "-",
                                                "0",
                                                "*",
                                                "W/",
                                                "bytes=",
                                                "http://",
                                                "//",
                                                "/",
                                                "..",
                                                "?",
                                                "#",
                                                ":",
                                                "Thu, 18 Aug 2050 02:01:18 GMT",
                                                "Thu Aug  8 02:01:18 2050",
                                                "GMT",
                                                ";q=",
                                                "0.",
                                                "(",
                                                ")",
                                                ":aGk=:",
                                                "@1",
                                                "%\"",
                                                "\r\n",
                                                "stale-while-revalidate=",
                                                "must-understand",
                                                "max-stale",
                                                "\x80\xff"};

TEST(Hostile, NoBytesBreakAnyRule) {
  std::mt19937 random(20261201);
  const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  for (int round = 0; round < 20'000; ++round) {
    std::list<std::string> texts;
    const auto fields = [&] {
      std::vector<Field> result;
      for (std::size_t count = pick(6); count > 0; --count) {
        std::string& value = texts.emplace_back();
        for (std::size_t length = pick(7); length > 0; --length) value += pieces[pick(pieces.size())];
        if (pick(8) == 0) value += static_cast<char>(random());
        result.push_back({names[pick(names.size())], value});
      }
      return result;
    };
    const std::vector<Field> asked = fields(), answered = fields(), renewed = fields();
    const Request request{"GET", "http://h/a", asked};
    const auto entry = stored(answered);
    EXPECT_EQ(entry->head.find("\r\n\r\n"), std::string::npos);
    decide(request, *entry, noon + 5s);
    may_serve_on_error(request, *entry, 0, noon + 5s);
    is_not_modified(request, *entry, noon);
    validation_fields(*entry);
    const Part part = requested_part(request, *entry, entry->body.size(), noon);
    EXPECT_TRUE(part.kind != Part::Kind::partial || (part.first <= part.last && part.last < entry->body.size()));
    const Updated result = update(*entry, request, {304, renewed, noon + 5s, noon + 5s});
    EXPECT_GE(result.entry->freshness.lifetime, 0s);
    EXPECT_GE(result.entry->freshness.age(noon), 0s);
    effect_of_head(answer(200, renewed), *entry);
    for (const std::string& url : invalidated_urls({"POST", "http://h/a", asked}, answer(200, answered))) {
      EXPECT_TRUE(url.starts_with("http://h/")) << url;
    }
    if (const auto vary = vary_names(answered)) vary_key(*vary, asked);
    CacheStatus status;
    if (!asked.empty()) status.detail = asked[0].value;
    format_cache_status(status);
  }
}

}  // namespace
}  // namespace brink::cache::http
