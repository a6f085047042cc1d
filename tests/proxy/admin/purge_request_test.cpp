#include "proxy/admin/purge_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brink::admin {
namespace {

using cache::Purge;
using ::testing::HasSubstr;

TEST(PurgeRequest, NamesOneGroup) {
  const auto tag = read_purge_request(R"({"tag": "news"})");
  EXPECT_EQ(tag.problem, "");
  EXPECT_EQ(tag.what, (Purge{Purge::Kind::tag, "news"}));
  EXPECT_FALSE(tag.soft);
  EXPECT_EQ(read_purge_request(R"({"route": "chat"})").what, (Purge{Purge::Kind::route, "chat"}));
  EXPECT_EQ(read_purge_request(R"({"model": "llama-3"})").what, (Purge{Purge::Kind::model, "llama-3"}));
  EXPECT_EQ(read_purge_request(R"({"all": true})").what, (Purge{Purge::Kind::all, ""}));
}

TEST(PurgeRequest, MayBeSoft) {
  EXPECT_TRUE(read_purge_request(R"({"soft": true, "tag": "news"})").soft);
  EXPECT_FALSE(read_purge_request(R"({"tag": "news", "soft": false})").soft);
}

TEST(PurgeRequest, WhatItCannotMeanIsAProblem) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the body is JSON"},
      {"tag=news", "the body is JSON"},
      {"[]", "the body is JSON"},
      {"null", "the body is JSON"},
      {"{}", "the body is JSON"},
      {R"({"soft": true})", "the body is JSON"},
      {R"({"tag": "a"} {})", "the body is JSON"},
      {R"({"tag": "a", "url": "http://h/"})", "exclude each other"},
      {R"({"tag": "a", "all": true})", "exclude each other"},
      {R"({"tag": "a", "tag": "b"})", "`tag` stands there twice"},
      {R"({"tags": "a"})", "unknown member `tags`"},
      {R"({"tag": "a", "when": "now"})", "unknown member `when`"},
      {R"({"tag": ""})", "not empty"},
      {R"({"tag": 7})", "not empty"},
      {R"({"tag": ["a"]})", "not empty"},
      {R"({"all": false})", "`all` can only be true"},
      {R"({"all": "true"})", "`all` can only be true"},
      {R"({"all": 1})", "`all` can only be true"},
      {R"({"tag": "a", "soft": 1})", "`soft` must be true or false"},
      {"{\"tag\": \"\xff\"}", "the body is JSON"},
      {R"({"url": "/path"})", "must be whole"},
  };
  for (const auto& [body, problem] : cases) {
    EXPECT_THAT(read_purge_request(body).problem, HasSubstr(problem)) << body;
  }
}

TEST(PurgeRequest, ATextThatNoMessageToOtherNodesCouldHoldIsAProblem) {
  const std::string long_text(cache::max_purge_text, 'a');
  EXPECT_THAT(read_purge_request(R"({"tag": ")" + long_text + R"("})").problem, HasSubstr("too long"));
  EXPECT_THAT(read_purge_request(R"({"url": "http://h/)" + long_text + R"("})").problem, HasSubstr("too long"));
  const auto longest = read_purge_request(R"({"tag": ")" + long_text.substr(128) + R"("})");
  EXPECT_EQ(longest.problem, "");
  const auto there =
      cache::from_text(cache::to_text({longest.what, true, cache::WallTime(cache::Duration(1'790'000'000'000))}));
  EXPECT_TRUE(there.has_value());
}

TEST(PurgeRequest, DeepJsonIsNoTrouble) {
  EXPECT_NE(read_purge_request(R"({"tag": )" + std::string(60'000, '[')).problem, "");
  EXPECT_NE(read_purge_request(R"({"tag": )" + std::string(30'000, '[') + std::string(30'000, ']') + "}").problem, "");
}

TEST(PurgeUrl, IsWhatEntriesAreKnownBy) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://host/path?q=1", "http://host/path?q=1"},
      {"HTTP://HOST/Path", "http://host/Path"},
      {"http://host", "http://host/"},
      {"http://host?q", "http://host/?q"},
      {"http://host:80/a", "http://host/a"},
      {"http://host:8080/a", "http://host:8080/a"},
      {"https://host/a", "http://host/a"},
      {"https://host:443/a?b=http://x/", "http://host/a?b=http://x/"},
      {"https://host:80/a", "http://host/a"},
      {"https://[::1]:8443/a", "http://[::1]:8443/a"},
  };
  for (const auto& [url, known] : cases) {
    std::string problem;
    EXPECT_EQ(normal_purge_url(url, problem), known) << url;
    EXPECT_EQ(problem, "") << url;
  }
}

TEST(PurgeUrl, WhatNoRequestHasIsAProblem) {
  for (const char* url :
       {"host/path", "/path", "ftp://host/", "http://", "http:///path", "http://:80/", "http://u@host/",
        "http://host/#part", "http://host#part", "http://ho st/", "http://host/a b", "http://host/\n"}) {
    std::string problem;
    EXPECT_EQ(normal_purge_url(url, problem), "") << url;
    EXPECT_NE(problem, "") << url;
  }
}

}  // namespace
}  // namespace brink::admin
