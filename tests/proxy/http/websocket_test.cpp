#include "proxy/http/websocket.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brink::http {
namespace {

const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";  // the example of RFC 6455 section 1.3
const std::string version = "Sec-WebSocket-Version: 13\r\n";
const std::string upgrade = "Host: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";

UpgradeCheck check(const std::string& text) {
  RequestHead head;
  EXPECT_EQ(parse_request(text, {}, head).error, HeadError::ok);
  return check_upgrade(head);
}

TEST(WebSocketUpgrade, AWellFormedOneIsRecognised) {
  EXPECT_TRUE(check("GET /v1/realtime HTTP/1.1\r\n" + upgrade + key + version + "\r\n").websocket);
}

TEST(WebSocketUpgrade, PlainRequestsAndOtherUpgradesAreNone) {
  EXPECT_FALSE(check("GET / HTTP/1.1\r\nHost: h\r\n\r\n").websocket);
  const UpgradeCheck h2c = check("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
  EXPECT_FALSE(h2c.websocket);
  EXPECT_EQ(h2c.error, ErrorKind::none);
}

TEST(WebSocketUpgrade, WhatIsWrongIsNamed) {
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + key + "\r\n").error, ErrorKind::bad_upgrade);
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + key + "Sec-WebSocket-Version: 8\r\n\r\n").error,
            ErrorKind::upgrade_required);
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + version + "\r\n").error, ErrorKind::bad_upgrade);
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + version + "Sec-WebSocket-Key: short\r\n\r\n").error,
            ErrorKind::bad_upgrade);
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + version + key + key + "\r\n").error, ErrorKind::bad_upgrade);
  EXPECT_EQ(check("POST / HTTP/1.1\r\n" + upgrade + version + key + "\r\n").error, ErrorKind::bad_upgrade);
  EXPECT_EQ(check("GET / HTTP/1.1\r\n" + upgrade + version + key + "Content-Length: 3\r\n\r\nabc").error,
            ErrorKind::bad_upgrade);
}

bool accepted(const std::string& response_text) {
  const std::string request_text = "GET / HTTP/1.1\r\n" + upgrade + key + version + "\r\n";
  RequestHead request;
  ResponseHead response;
  EXPECT_EQ(parse_request(request_text, {}, request).error, HeadError::ok);
  EXPECT_EQ(parse_response(response_text, {}, false, response).error, HeadError::ok);
  return accepts_upgrade(request, response);
}

TEST(WebSocketUpgrade, OnlyTheRightAnswerOpensATunnel) {
  const std::string status = "HTTP/1.1 101 Switching Protocols\r\n";
  const std::string fields = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
  EXPECT_TRUE(accepted(status + fields + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
  EXPECT_FALSE(accepted(status + fields + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n"));
  EXPECT_FALSE(accepted(status + fields + "\r\n"));
  EXPECT_FALSE(accepted(status + "Upgrade: h2c\r\nConnection: Upgrade\r\n"
                                 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
  EXPECT_FALSE(accepted(status + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
}

}  // namespace
}  // namespace brink::http
