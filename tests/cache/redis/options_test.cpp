#include "cache/redis/options.hpp"

#include <gtest/gtest.h>

namespace brink::cache::redis {
namespace {

Options good(std::string_view url) {
  Options options;
  EXPECT_EQ(parse(url, options), "") << url;
  EXPECT_EQ(check(options), "") << url;
  return options;
}

std::string bad(std::string_view url) {
  Options options;
  options.password = "old";
  const std::string wrong = parse(url, options);
  EXPECT_NE(wrong, "") << url;
  EXPECT_EQ(options.password, "old") << "changed in spite of the error";
  return wrong;
}

TEST(RedisOptions, UrlsOfEachKind) {
  const Options plain = good("redis://cache.example");
  EXPECT_EQ(plain.nodes, (std::vector<Node>{{"cache.example", 6379}}));
  EXPECT_FALSE(plain.tls);
  EXPECT_EQ(plain.database, 0U);

  const Options full = good("rediss://al%40ice:p%3Ass%2F@[2001:db8::1]:7000/12");
  EXPECT_EQ(full.nodes, (std::vector<Node>{{"2001:db8::1", 7000}}));
  EXPECT_EQ(full.nodes[0].text(), "[2001:db8::1]:7000");
  EXPECT_EQ(full.user, "al@ice");
  EXPECT_EQ(full.password, "p:ss/");
  EXPECT_EQ(full.database, 12U);
  EXPECT_TRUE(full.tls);

  const Options only_password = good("redis://:a@b/c@10.0.0.1:1/");
  EXPECT_EQ(only_password.user, "");
  EXPECT_EQ(only_password.password, "a@b/c");

  const Options socket = good("unix:///run/redis/r%20s.sock?db=3");
  EXPECT_EQ(socket.nodes, (std::vector<Node>{{"/run/redis/r s.sock", 0}}));
  EXPECT_EQ(socket.database, 3U);
  EXPECT_EQ(good("unix://u:p@/run/r.sock").user, "u");
}

TEST(RedisOptions, WhatIsWrongIsSaidWithoutThePassword) {
  for (const char* url : {"",
                          "redis",
                          "http://a",
                          "redis://",
                          "redis://a:0",
                          "redis://a:70000",
                          "redis://a:1x",
                          "redis://a/x",
                          "redis://a/-1",
                          "redis://a/99999",
                          "redis://a?db=1",
                          "redis://user@a",
                          "redis://u:@a",
                          "redis://[::1",
                          "redis://a b",
                          "unix://",
                          "unix://relative",
                          "unix:///",
                          "unix:///a?x=1",
                          "unix:///a%0",
                          "unix:///a%00b",
                          "redis://::1:6379"}) {
    bad(url);
  }
  for (const char* url :
       {"redis://u:geheim%zz@a", "redis://u:geheim@a:x", "redis://u:geheim@", "redis://u:geheim@a/x"}) {
    EXPECT_EQ(bad(url).find("geheim"), std::string::npos) << url;
  }
}

TEST(RedisOptions, NodesWithAndWithoutPort) {
  Node node;
  EXPECT_EQ(parse_node("[::1]", 26379, node), "");
  EXPECT_EQ(node, (Node{"::1", 26379}));
  EXPECT_EQ(parse_node("a.b:1", 26379, node), "");
  EXPECT_EQ(node, (Node{"a.b", 1}));
  EXPECT_NE(parse_node("[::1]x", 1, node), "");
  EXPECT_NE(parse_node("a:", 1, node), "");
}

TEST(RedisOptions, MembersThatDoNotGoTogether) {
  EXPECT_NE(check(Options{}), "");
  Options options = good("redis://a/1");
  options.mode = Options::Mode::cluster;
  EXPECT_NE(check(options), "") << "a cluster has one database";
  options.mode = Options::Mode::sentinel;
  EXPECT_NE(check(options), "") << "no master name";
  options.master_name = "m";
  EXPECT_EQ(check(options), "");
  options.timeout = std::chrono::milliseconds(0);
  EXPECT_NE(check(options), "");
  Options socket = good("unix:///a");
  socket.mode = Options::Mode::cluster;
  EXPECT_NE(check(socket), "");
  socket.mode = Options::Mode::single;
  socket.nodes[0].host.assign(200, 'a');
  EXPECT_NE(check(socket), "") << "longer than a socket's path can be";
}

}  // namespace
}  // namespace brink::cache::redis
