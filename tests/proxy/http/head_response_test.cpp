// Response heads as backends send them, and how each one's body ends (RFC 9112 section 6.3).
#include <gtest/gtest.h>

#include <string>

#include "proxy/http/head.hpp"

namespace brink::http {
namespace {

struct Parsed {
  std::string bytes;
  ResponseHead head;
  ParseResult result;
  explicit Parsed(std::string text, bool head_request = false) : bytes(std::move(text)) {
    result = parse_response(bytes, {}, head_request, head);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
};

TEST(ResponseHead, UvicornJson) {
  const Parsed response{
      "HTTP/1.1 200 OK\r\ndate: Tue, 01 Dec 2026 10:00:00 GMT\r\nserver: uvicorn\r\ncontent-length: 412\r\n"
      "content-type: application/json\r\n\r\n{\"id\""};
  ASSERT_EQ(response.result.error, HeadError::ok) << response.result.what;
  EXPECT_EQ(response.bytes.substr(response.result.size), "{\"id\"");
  EXPECT_EQ(response.head.status, 200u);
  EXPECT_EQ(response.head.reason, "OK");
  EXPECT_EQ(response.head.framing, Framing::length);
  EXPECT_EQ(response.head.content_length, 412u);
  EXPECT_TRUE(response.head.keep_alive);
  EXPECT_EQ(response.head.find("Content-Type")->value, "application/json");
}

TEST(ResponseHead, EventStream) {
  const Parsed response{
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"};
  ASSERT_EQ(response.result.error, HeadError::ok) << response.result.what;
  EXPECT_EQ(response.head.framing, Framing::chunked);
  EXPECT_TRUE(response.head.keep_alive);
}

TEST(ResponseHead, WithoutLengthTheBodyEndsWithTheConnection) {
  const Parsed response{"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n"};
  ASSERT_EQ(response.result.error, HeadError::ok) << response.result.what;
  EXPECT_EQ(response.head.framing, Framing::until_close);
  EXPECT_FALSE(response.head.keep_alive);
}

TEST(ResponseHead, LengthZeroIsNoBody) {
  const Parsed response{"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"};
  EXPECT_EQ(response.head.framing, Framing::none);
  EXPECT_TRUE(response.head.keep_alive);
}

TEST(ResponseHead, TheAnswerToHeadHasNoBodyButKeepsItsLength) {
  const Parsed with_length{"HTTP/1.1 200 OK\r\nContent-Length: 412\r\n\r\n", true};
  ASSERT_EQ(with_length.result.error, HeadError::ok) << with_length.result.what;
  EXPECT_EQ(with_length.head.framing, Framing::none);
  EXPECT_EQ(with_length.head.content_length, 412u);
  EXPECT_TRUE(with_length.head.keep_alive);
  const Parsed chunked{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true};
  EXPECT_EQ(chunked.head.framing, Framing::none);
  const Parsed neither{"HTTP/1.1 200 OK\r\n\r\n", true};
  EXPECT_EQ(neither.head.framing, Framing::none);
  EXPECT_TRUE(neither.head.keep_alive);
}

TEST(ResponseHead, StatusesWithoutBody) {
  for (const auto* head : {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                           "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
                           "HTTP/1.1 304 Not Modified\r\nContent-Length: 412\r\n\r\n",
                           "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    const Parsed response{head};
    EXPECT_EQ(response.result.error, HeadError::ok) << head << response.result.what;
    EXPECT_EQ(response.head.framing, Framing::none) << head;
    EXPECT_TRUE(response.head.keep_alive) << head;
  }
}

TEST(ResponseHead, SwitchingProtocols) {
  const Parsed response{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"};
  ASSERT_EQ(response.result.error, HeadError::ok) << response.result.what;
  EXPECT_TRUE(response.head.has_upgrade);
}

TEST(ResponseHead, Http10) {
  const Parsed response{"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n"};
  ASSERT_EQ(response.result.error, HeadError::ok) << response.result.what;
  EXPECT_FALSE(response.head.keep_alive);
  EXPECT_TRUE(Parsed{"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n"}.head.keep_alive);
}

TEST(ResponseHead, ReasonMayBeEmptyOrNotAscii) {
  EXPECT_EQ(Parsed{"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n"}.head.reason, "");
  EXPECT_EQ(Parsed{"HTTP/1.1 404 \xe4r\r\nContent-Length: 5\r\n\r\n"}.head.reason, "\xe4r");
}

TEST(ResponseHead, IsIncompleteAtEveryPrefix) {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA:\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Parsed response{whole.substr(0, size)};
    EXPECT_EQ(response.result.error, HeadError::ok) << "after " << size << " bytes: " << response.result.what;
    EXPECT_EQ(response.result.size, 0u) << "after " << size << " bytes";
  }
}

TEST(ResponseLimits, HeadAndFields) {
  ResponseHead head;
  const Limits limits{.head = 128, .fields = 4, .target = 1};
  const std::string endless_reason = "HTTP/1.1 200 " + std::string(200, 'a');
  EXPECT_EQ(parse_response(endless_reason, limits, false, head).error, HeadError::head_too_large);
  const std::string many = "HTTP/1.1 200 OK\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n";
  EXPECT_EQ(parse_response(many, limits, false, head).error, HeadError::too_many_fields);
}

}  // namespace
}  // namespace brink::http
