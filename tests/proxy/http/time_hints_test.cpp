#include "proxy/http/time_hints.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brink::http {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

TimeHints hints_of(const std::string& fields) {
  RequestHead head;
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  EXPECT_GT(parse_request(text, {}, head).size, 0u) << text;
  return time_hints(head);
}

std::optional<milliseconds> wait_of(const std::string& fields) {
  ResponseHead head;
  const std::string text = "HTTP/1.1 503 Busy\r\n" + fields + "\r\n";
  EXPECT_GT(parse_response(text, {}, false, head).size, 0u) << text;
  // 1994-11-06 08:49:37 GMT
  return retry_after(head, std::chrono::system_clock::time_point(784111777s));
}

TEST(TimeHints, SayHowLongTheClientWaits) {
  EXPECT_FALSE(hints_of("").total);
  EXPECT_EQ(hints_of("x-request-timeout: 1500\r\n").total, 1500ms);
  EXPECT_EQ(hints_of("X-Request-Timeout: 1500ms\r\n").total, 1500ms);
  EXPECT_EQ(hints_of("x-request-timeout: 2s\r\n").total, 2s);
  EXPECT_EQ(hints_of("x-request-timeout: 1.5s\r\n").total, 1500ms);
  EXPECT_EQ(hints_of("x-request-timeout: 1m\r\n").total, 60s);
  EXPECT_EQ(hints_of("grpc-timeout: 500m\r\n").total, 500ms);
  EXPECT_EQ(hints_of("grpc-timeout: 2S\r\n").total, 2s);
  EXPECT_EQ(hints_of("grpc-timeout: 1M\r\n").total, 60s);
  EXPECT_EQ(hints_of("grpc-timeout: 1H\r\n").total, 3600s);
  EXPECT_EQ(hints_of("grpc-timeout: 1500000u\r\n").total, 1500ms);
  EXPECT_EQ(hints_of("x-stainless-timeout: 600\r\n").head, 600s);
  EXPECT_EQ(hints_of("x-stainless-timeout: 0.25\r\n").head, 250ms);
  EXPECT_FALSE(hints_of("x-stainless-timeout: 600\r\n").total);
}

TEST(TimeHints, TheShortestCountsAndNoneIsLessThanAMillisecond) {
  EXPECT_EQ(hints_of("x-request-timeout: 2s\r\ngrpc-timeout: 1S\r\nx-request-timeout: 3s\r\n").total, 1s);
  EXPECT_EQ(hints_of("x-request-timeout: 0\r\n").total, 1ms);
  EXPECT_EQ(hints_of("grpc-timeout: 1n\r\n").total, 1ms);
}

TEST(TimeHints, WhatCannotBeUnderstoodSaysNothing) {
  for (const char* value :
       {"", "-1", "+1", "1h", "1 s", "s", "nan", "inf", "1e3", "0x10", "99999999999999999999999", "1,5"}) {
    EXPECT_FALSE(hints_of(std::string("x-request-timeout: ") + value + "\r\n").total) << value;
    EXPECT_FALSE(hints_of(std::string("x-stainless-timeout: ") + value + "\r\n").head) << value;
  }
  for (const char* value : {"1", "1s", "123456789S", "1.5S", "S", "-1S"}) {
    EXPECT_FALSE(hints_of(std::string("grpc-timeout: ") + value + "\r\n").total) << value;
  }
}

TEST(RetryAfter, SecondsADateOrMilliseconds) {
  EXPECT_FALSE(wait_of(""));
  EXPECT_EQ(wait_of("retry-after: 7\r\n"), 7s);
  EXPECT_EQ(wait_of("retry-after: 0\r\n"), 0s);
  EXPECT_EQ(wait_of("Retry-After: Sun, 06 Nov 1994 08:49:47 GMT\r\n"), 10s);
  EXPECT_EQ(wait_of("retry-after: 7\r\nretry-after-ms: 250\r\n"), 250ms);
}

TEST(RetryAfter, IsBounded) {
  EXPECT_EQ(wait_of("retry-after: 3600\r\n"), 60s);
  EXPECT_EQ(wait_of("retry-after: 99999999999999999999999999\r\n"), 60s);
  EXPECT_EQ(wait_of("retry-after: Sun, 06 Nov 1994 07:49:37 GMT\r\n"), 0s) << "past";
  EXPECT_EQ(wait_of("retry-after: Sun, 06 Nov 2094 08:49:37 GMT\r\n"), 60s);
}

TEST(RetryAfter, WhatCannotBeUnderstoodSaysNothing) {
  for (const char* value : {"soon", "-1", "1s", "1 2", "Sun, 99 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(wait_of(std::string("retry-after: ") + value + "\r\n")) << value;
  }
}

}  // namespace
}  // namespace brink::http
