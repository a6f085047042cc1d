// Heads as real clients send them, and what the parser says of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/http/head.hpp"

namespace brink::http {
namespace {

using boost::beast::http::verb;
using namespace std::string_view_literals;

// The head is a view of `bytes`: both live as long as the test's own variable.
struct Parsed {
  std::string bytes;
  RequestHead head;
  ParseResult result;
  explicit Parsed(std::string text, const Limits& limits = {}) : bytes(std::move(text)) {
    result = parse_request(bytes, limits, head);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
};

constexpr auto curl_get =
    "GET /v1/models?limit=2 HTTP/1.1\r\nHost: api.example.com:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n"sv;

TEST(RequestHead, CurlGet) {
  const Parsed request{std::string(curl_get)};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.result.size, curl_get.size());
  EXPECT_EQ(request.head.raw, curl_get);
  EXPECT_EQ(request.head.method, verb::get);
  EXPECT_EQ(request.head.target, "/v1/models?limit=2");
  EXPECT_EQ(request.head.path, "/v1/models");
  EXPECT_EQ(request.head.query, "?limit=2");
  EXPECT_EQ(request.head.authority, "api.example.com:8080");
  EXPECT_EQ(request.head.host, "api.example.com");
  EXPECT_EQ(request.head.framing, Framing::none);
  EXPECT_TRUE(request.head.keep_alive);
  ASSERT_EQ(request.head.fields.size(), 3u);
  EXPECT_EQ(request.head.fields[1].id, FieldId::user_agent);
  EXPECT_EQ(request.head.fields[1].name, "User-Agent");
  EXPECT_EQ(request.head.fields[1].value, "curl/7.88.1");
}

TEST(RequestHead, EveryViewPointsIntoTheBuffer) {
  const Parsed request{std::string(curl_get)};
  const auto inside = [&](std::string_view view) {
    return view.data() >= request.bytes.data() &&
           view.data() + view.size() <= request.bytes.data() + request.bytes.size();
  };
  for (const auto& field : request.head.fields) {
    EXPECT_TRUE(inside(field.name) && inside(field.value)) << field.name;
  }
  EXPECT_TRUE(inside(request.head.target) && inside(request.head.host) && inside(request.head.raw));
}

TEST(RequestHead, OpenAiSdkPost) {
  const Parsed request{
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:8080\r\nAccept: application/json\r\n"
      "Content-Type: application/json\r\nUser-Agent: OpenAI/JS 4.73.0\r\nX-Stainless-Lang: js\r\n"
      "X-Stainless-Package-Version: 4.73.0\r\nX-Stainless-Retry-Count: 0\r\nAuthorization: Bearer sk-1\r\n"
      "Content-Length: 137\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n\r\n{\"model\""};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.bytes.substr(request.result.size), "{\"model\"");
  EXPECT_EQ(request.head.framing, Framing::length);
  EXPECT_EQ(request.head.content_length, 137u);
  EXPECT_TRUE(request.head.keep_alive);
  EXPECT_FALSE(request.head.nominates);
  ASSERT_NE(request.head.find("x-stainless-lang"), nullptr);
  EXPECT_EQ(request.head.find("x-stainless-lang")->value, "js");
  EXPECT_EQ(request.head.find(FieldId::cookie), nullptr);
}

TEST(RequestHead, ChromeGet) {
  const Parsed request{
      "GET / HTTP/1.1\r\nHost: example.com\r\nConnection: keep-alive\r\n"
      "sec-ch-ua: \"Chromium\";v=\"120\", \"Not_A Brand\";v=\"8\"\r\nsec-ch-ua-mobile: ?0\r\n"
      "Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"
      "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-GB,en;q=0.9\r\n"
      "Cookie: a=b; n=\xc3\xa4\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.fields.size(), 9u);
  EXPECT_EQ(request.head.find(FieldId::cookie)->value, "a=b; n=\xc3\xa4");
  EXPECT_FALSE(request.head.has_upgrade);
}

TEST(RequestHead, WrkGetWithHostOnly) {
  const Parsed request{"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.host, "127.0.0.1");
}

TEST(RequestHead, WebSocketUpgrade) {
  const Parsed request{
      "GET /v1/realtime?model=m HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_TRUE(request.head.has_upgrade);
  EXPECT_FALSE(request.head.nominates);
}

TEST(RequestHead, UpgradeNeedsBothFieldsAndHttp11) {
  EXPECT_FALSE(Parsed{"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"}.head.has_upgrade);
  EXPECT_FALSE(Parsed{"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n"}.head.has_upgrade);
  EXPECT_FALSE(
      Parsed{"GET / HTTP/1.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"}.head.has_upgrade);
}

TEST(RequestHead, ChunkedInAnyCase) {
  const Parsed request{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:  ChunKed \t\r\n\r\n0\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.framing, Framing::chunked);
}

TEST(RequestHead, LengthWithLeadingZeroIsDecimal) {
  const Parsed request{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 010\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.content_length, 10u);
}

TEST(RequestHead, LengthFarOverBeastsBodyLimit) {
  const Parsed request{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.content_length, 9223372036854775807u);
}

TEST(RequestHead, LengthZeroIsNoBody) {
  const Parsed request{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.framing, Framing::none);
  EXPECT_TRUE(request.head.has_content_length);
}

TEST(RequestHead, Http10ClosesUnlessAsked) {
  const Parsed plain{"GET / HTTP/1.0\r\n\r\n"};
  ASSERT_EQ(plain.result.error, HeadError::ok) << plain.result.what;
  EXPECT_FALSE(plain.head.keep_alive);
  EXPECT_EQ(plain.head.minor_version, 0);
  EXPECT_EQ(plain.head.authority, "");
  EXPECT_TRUE(Parsed{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"}.head.keep_alive);
  EXPECT_FALSE(Parsed{"GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"}.head.keep_alive);
}

TEST(RequestHead, CloseIsFoundInAnyConnectionField) {
  EXPECT_FALSE(Parsed{"GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\nTE: trailers\r\n\r\n"}.head.keep_alive);
  EXPECT_FALSE(Parsed{"GET / HTTP/1.1\r\nHost: a\r\nConnection: te\r\nConnection: close\r\n\r\n"}.head.keep_alive);
  EXPECT_TRUE(Parsed{"GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n"}.head.keep_alive);
}

TEST(RequestHead, NominatedFieldsAreKnown) {
  const Parsed request{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_TRUE(request.head.nominates);
  EXPECT_TRUE(request.head.nominated("x-hop"));
  EXPECT_FALSE(request.head.nominated("x-end"));
}

TEST(RequestHead, Expectations) {
  const Parsed usual{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n"};
  EXPECT_TRUE(usual.head.expect_continue);
  EXPECT_FALSE(usual.head.bad_expect);
  const Parsed old{"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"};
  EXPECT_FALSE(old.head.expect_continue);
  const Parsed other{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 200-ok\r\n\r\n"};
  EXPECT_EQ(other.result.error, HeadError::ok);
  EXPECT_TRUE(other.head.bad_expect);
  EXPECT_FALSE(Parsed{"POST / HTTP/1.1\r\nHost: a\r\nExpect:\r\n\r\n"}.head.bad_expect);
}

TEST(RequestHead, AbsoluteFormNamesPathAndHost) {
  const Parsed request{"GET HTTP://A.example:80/p/q?r=s HTTP/1.1\r\nHost: a.EXAMPLE\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.path, "/p/q");
  EXPECT_EQ(request.head.query, "?r=s");
  EXPECT_EQ(request.head.authority, "A.example:80");
  EXPECT_EQ(request.head.host, "A.example");
}

TEST(RequestHead, AbsoluteFormWithoutPath) {
  const Parsed request{"GET https://[::1]:443?r HTTP/1.1\r\nHost: [::1]\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.path, "/");
  EXPECT_EQ(request.head.query, "?r");
  EXPECT_EQ(request.head.host, "[::1]");
}

TEST(RequestHead, AbsoluteFormOfHttp10NeedsNoHost) {
  const Parsed request{"GET http://a/ HTTP/1.0\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.host, "a");
}

TEST(RequestHead, OptionsStar) {
  const Parsed request{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.path, "*");
}

TEST(RequestHead, ConnectIsLeftToTheCaller) {
  const Parsed request{"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.method, verb::connect);
  EXPECT_EQ(request.head.path, "");
  EXPECT_EQ(request.head.authority, "b.example:443");
}

TEST(RequestHead, MethodsAreTokensOfAnyName) {
  const Parsed request{"PURGE-it! / HTTP/1.1\r\nHost: a\r\n\r\n"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.head.method, verb::unknown);
  EXPECT_EQ(request.head.method_text, "PURGE-it!");
}

TEST(RequestHead, EmptyLinesBeforeTheRequestAreSkipped) {
  const Parsed request{"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest"};
  ASSERT_EQ(request.result.error, HeadError::ok) << request.result.what;
  EXPECT_EQ(request.bytes.substr(request.result.size), "rest");
  EXPECT_TRUE(request.head.raw.starts_with("GET"));
}

TEST(RequestHead, AHeadIsIncompleteAtEveryPrefix) {
  for (const auto& whole : {std::string(curl_get), "\r\n" + std::string(curl_get)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Parsed request{whole.substr(0, size)};
      EXPECT_EQ(request.result.error, HeadError::ok) << "after " << size << " bytes: " << request.result.what;
      EXPECT_EQ(request.result.size, 0u) << "after " << size << " bytes";
    }
  }
}

TEST(RequestHead, TheNextHeadStartsClean) {
  RequestHead head;
  const auto first =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"sv;
  ASSERT_NE(parse_request(first, {}, head).size, 0u);
  ASSERT_NE(parse_request(curl_get, {}, head).size, 0u);
  EXPECT_EQ(head.fields.size(), 3u);
  EXPECT_FALSE(head.has_content_length);
  EXPECT_EQ(head.content_length, 0u);
  EXPECT_FALSE(head.expect_continue);
  EXPECT_TRUE(head.keep_alive);
}

TEST(RequestLimits, Target) {
  const Limits limits{.head = 4096, .fields = 10, .target = 100};
  const auto with_target = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ((Parsed{with_target(100), limits}.result.error), HeadError::ok);
  EXPECT_EQ((Parsed{with_target(101), limits}.result.error), HeadError::target_too_long);
  EXPECT_EQ((Parsed{with_target(5000), limits}.result.error), HeadError::target_too_long);
}

TEST(RequestLimits, ARequestLineWithoutEndIsGivenUpEarly) {
  const Limits limits{.head = 4096, .fields = 10, .target = 100};
  EXPECT_EQ((Parsed{"GET /" + std::string(90, 'a'), limits}.result.error), HeadError::ok);
  EXPECT_EQ((Parsed{"GET /" + std::string(200, 'a'), limits}.result.error), HeadError::target_too_long);
  const Limits small{.head = 64, .fields = 10, .target = 8192};
  EXPECT_EQ((Parsed{"GET /" + std::string(90, 'a'), small}.result.error), HeadError::target_too_long);
}

TEST(RequestLimits, HeadSizeIsExact) {
  Limits limits;
  limits.head = curl_get.size();
  EXPECT_EQ((Parsed{std::string(curl_get), limits}.result.error), HeadError::ok);
  limits.head = curl_get.size() - 1;
  EXPECT_EQ((Parsed{std::string(curl_get), limits}.result.error), HeadError::head_too_large);
}

TEST(RequestLimits, AHeadWithoutEndIsGivenUpAtTheLimit) {
  const Limits limits{.head = 256, .fields = 10, .target = 100};
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
  EXPECT_EQ((Parsed{begin + std::string(255 - begin.size(), 'b'), limits}.result.error), HeadError::ok);
  EXPECT_EQ((Parsed{begin + std::string(256 - begin.size(), 'b'), limits}.result.error), HeadError::head_too_large);
}

TEST(RequestLimits, Fields) {
  const auto with_fields = [](std::size_t count) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 1; i < count; ++i) text += "A: b\r\n";
    return text;
  };
  const Limits limits{.head = 4096, .fields = 10, .target = 100};
  EXPECT_EQ((Parsed{with_fields(10) + "\r\n", limits}.result.error), HeadError::ok);
  EXPECT_EQ((Parsed{with_fields(11) + "\r\n", limits}.result.error), HeadError::too_many_fields);
  EXPECT_EQ((Parsed{with_fields(11), limits}.result.error), HeadError::too_many_fields);
}

TEST(RequestLimits, EachErrorHasItsStatus) {
  using enum HeadError;
  const auto statuses = {status_of(malformed),       status_of(head_too_large), status_of(too_many_fields),
                         status_of(target_too_long), status_of(bad_version),    status_of(unknown_coding)};
  EXPECT_THAT(statuses, testing::ElementsAre(400u, 431u, 431u, 414u, 505u, 501u));
}

}  // namespace
}  // namespace brink::http
