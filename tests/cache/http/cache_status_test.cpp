#include "cache/http/cache_status.hpp"

#include <gtest/gtest.h>

namespace brink::cache::http {
namespace {

using namespace std::chrono_literals;

TEST(CacheStatus, AHitTellsItsTtl) {
  CacheStatus status;
  status.hit = true;
  status.ttl = 30s;
  EXPECT_EQ(format_cache_status(status), "brink; hit; ttl=30");
  status.ttl = -30s;
  EXPECT_EQ(format_cache_status(status), "brink; hit; ttl=-30");
}

TEST(CacheStatus, WhatWasSentOnTellsWhy) {
  CacheStatus status;
  status.forward = Forward::uri_miss;
  status.stored = true;
  EXPECT_EQ(format_cache_status(status), "brink; fwd=uri-miss; stored");
  status.forward = Forward::stale;
  status.forward_status = 304;
  status.collapsed = true;
  EXPECT_EQ(format_cache_status(status, "edge"), "edge; fwd=stale; fwd-status=304; stored; collapsed");
}

TEST(CacheStatus, EveryReasonHasItsToken) {
  EXPECT_EQ(forward_token(Forward::bypass), "bypass");
  EXPECT_EQ(forward_token(Forward::method), "method");
  EXPECT_EQ(forward_token(Forward::vary_miss), "vary-miss");
  EXPECT_EQ(forward_token(Forward::request), "request");
  EXPECT_EQ(forward_token(Forward::partial), "partial");
  EXPECT_EQ(forward_token(Forward::none), "");
}

TEST(CacheStatus, DetailIsATokenOrAString) {
  CacheStatus status;
  status.detail = "no-store";
  EXPECT_EQ(format_cache_status(status), "brink; detail=no-store");
  status.detail = "a \"b\" \\ \x01\xff";
  EXPECT_EQ(format_cache_status(status), "brink; detail=\"a \\\"b\\\" \\\\ ??\"");
  status.detail = "5xx";
  EXPECT_EQ(format_cache_status(status), "brink; detail=\"5xx\"");
}

}  // namespace
}  // namespace brink::cache::http
