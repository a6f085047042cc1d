#include "proxy/http/forward.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace brink::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A request as the session hands it on.
struct Request {
  explicit Request(std::string text) : raw(std::move(text)) {
    const ParseResult result = parse_request(raw, {}, exchange.head);
    EXPECT_EQ(result.error, HeadError::ok) << result.what;
    exchange.peer = "203.0.113.9";
    exchange.request_id = "id-1";
    exchange.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  }
  std::string forwarded(RequestEdit edit = {}) {
    if (edit.path.empty()) edit.path = exchange.head.path;
    std::string out;
    append_request_head(out, exchange, edit);
    return out;
  }
  std::string raw;
  Exchange exchange;
};

TEST(ForwardRequest, KeepsEndToEndFieldsAsTheyCame) {
  Request request(
      "POST /v1/x?a=b HTTP/1.1\r\nHost: api.example.com\r\nX-ODD:   spaced  \r\nAuthorization: Bearer k\r\n\r\n");
  const std::string head = request.forwarded();
  EXPECT_THAT(head, StartsWith("POST /v1/x?a=b HTTP/1.1\r\nhost: api.example.com\r\n"));
  EXPECT_THAT(head, HasSubstr("X-ODD:   spaced  \r\nAuthorization: Bearer k\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(ForwardRequest, TakesOutHopByHopAndNominatedFields) {
  Request request(
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nTE: gzip\r\n"
      "Proxy-Authorization: x\r\nProxy: evil\r\nExpect: 100-continue\r\nAccept: */*\r\n\r\n");
  const std::string head = request.forwarded();
  for (const char* gone : {"X-Mine", "Keep-Alive", "TE:", "Proxy", "Expect", "onnection: close"}) {
    EXPECT_THAT(head, Not(HasSubstr(gone))) << gone;
  }
  EXPECT_THAT(head, HasSubstr("Accept: */*\r\n"));
}

TEST(ForwardRequest, DoesNotBelieveForwardedFieldsOfStrangers) {
  Request request(
      "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\nForwarded: for=2.2.2.2\r\n"
      "X-Request-Id: theirs\r\n\r\n");
  const std::string head = request.forwarded();
  EXPECT_THAT(head, HasSubstr("x-forwarded-for: 203.0.113.9\r\nx-forwarded-proto: http\r\nx-forwarded-host: h\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("1.1.1.1")));
  EXPECT_THAT(head, Not(HasSubstr("2.2.2.2")));
  EXPECT_THAT(head, HasSubstr("x-request-id: id-1\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("theirs")));
}

TEST(ForwardRequest, ExtendsTheChainOfATrustedProxy) {
  Request request("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-Proto: https\r\n\r\n");
  RequestEdit edit;
  edit.trusted_client = true;
  const std::string head = request.forwarded(edit);
  EXPECT_THAT(head, HasSubstr("x-forwarded-for: 1.1.1.1, 203.0.113.9\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Forwarded-Proto: https\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-host: h\r\n"));
}

TEST(ForwardRequest, AppliesTheRoutesEdits) {
  Request request("GET / HTTP/1.1\r\nHost: h\r\nX-Tier: free\r\nCookie: c\r\n\r\n");
  conf::RewriteConfig rewrite;
  rewrite.host = "backend.internal";
  rewrite.set_headers = {{"x-tier", "gold"}};
  rewrite.remove_headers = {"cookie"};
  RequestEdit edit;
  edit.rewrite = &rewrite;
  const std::string head = request.forwarded(edit);
  EXPECT_THAT(head, HasSubstr("host: backend.internal\r\n"));
  EXPECT_THAT(head, HasSubstr("x-tier: gold\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("free")));
  EXPECT_THAT(head, Not(HasSubstr("Cookie")));
}

TEST(ForwardRequest, FramesTheBodyAnew) {
  Request request("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 007\r\n\r\n");
  RequestEdit edit;
  edit.has_length = true;
  edit.length = request.exchange.head.content_length;
  EXPECT_THAT(request.forwarded(edit), HasSubstr("content-length: 7\r\n"));
  EXPECT_THAT(request.forwarded(edit), Not(HasSubstr("007")));
}

std::string response(std::string raw, ResponseEdit edit, const conf::RewriteConfig* rewrite = nullptr) {
  ResponseHead head;
  const ParseResult result = parse_response(raw, {}, false, head);
  EXPECT_EQ(result.error, HeadError::ok) << result.what;
  Exchange exchange;
  exchange.request_id = "id-1";
  edit.rewrite = rewrite;
  std::string out;
  append_response_head(out, exchange, head, edit);
  return out;
}

TEST(ForwardResponse, TakesOutWhatIsForTheHopAndWhatOnlyTheEdgeMaySay) {
  const std::string head = response(
      "HTTP/1.1 200 Fine\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-Brink-Endpoint: spoof\r\nX-Request-Id: theirs\r\n"
      "Content-Type: a/b\r\nContent-Length: 3\r\n\r\n",
      {.has_length = true, .length = 3});
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 Fine\r\nContent-Type: a/b\r\ncontent-length: 3\r\nvia: 1.1 brink\r\n"));
  EXPECT_THAT(head, HasSubstr("x-request-id: id-1\r\n"));
  for (const char* gone : {"X-Hop", "spoof", "theirs"}) EXPECT_THAT(head, Not(HasSubstr(gone))) << gone;
}

TEST(ForwardResponse, SaysWhetherTheConnectionStays) {
  const std::string raw = "HTTP/1.1 204 No Content\r\n\r\n";
  EXPECT_THAT(response(raw, {.keep_alive = false}), HasSubstr("connection: close\r\n"));
  EXPECT_THAT(response(raw, {.client_minor_version = 0, .keep_alive = true}), HasSubstr("connection: keep-alive\r\n"));
  EXPECT_THAT(response(raw, {}), Not(HasSubstr("connection:")));
}

TEST(RequestId, OnlySaneOnesAreTakenOver) {
  EXPECT_TRUE(sane_request_id("req_01:ab-9.Z"));
  EXPECT_FALSE(sane_request_id(""));
  EXPECT_FALSE(sane_request_id("a b"));
  EXPECT_FALSE(sane_request_id("\"quoted\""));
  EXPECT_FALSE(sane_request_id(std::string(129, 'a')));
}

TEST(Traceparent, OnlyValidOnesAreTakenOver) {
  EXPECT_TRUE(valid_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(valid_traceparent("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(valid_traceparent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
  EXPECT_FALSE(valid_traceparent("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(valid_traceparent("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"));
}

}  // namespace
}  // namespace brink::http
