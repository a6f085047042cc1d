#include "cache/redis/resp.hpp"

#include <gtest/gtest.h>

#include <random>

namespace brink::cache::redis {
namespace {

using Type = Reply::Type;

TEST(RedisResp, CommandsKeepAnyBytes) {
  const std::string_view args[] = {"SET", std::string_view("a\0\r\n", 4), {}};
  const std::string expected("*3\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$0\r\n\r\n", 29);
  EXPECT_EQ(Wire(args).view(), expected);
  EXPECT_EQ(Wire(args).followed_by(Wire(args)).view(), expected + expected);
}

TEST(RedisResp, RepliesOfEachTypeByteByByte) {
  const std::string bytes =
      "+OK\r\n-ERR no\r\n:-7\r\n$-1\r\n$3\r\na\r\n\r\n*-1\r\n*0\r\n*3\r\n*2\r\n:1\r\n$0\r\n\r\n+x\r\n*1\r\n$-1\r\n";
  ReplyReader reader(1'000);
  std::vector<Reply> replies;
  for (const char c : bytes) {
    reader.feed({&c, 1});
    while (auto reply = reader.next()) replies.push_back(std::move(*reply));
    ASSERT_FALSE(reader.failed()) << reader.error();
  }
  ASSERT_EQ(replies.size(), 8U);
  EXPECT_EQ(replies[0].type, Type::status);
  EXPECT_TRUE(replies[1].is_error("ERR"));
  EXPECT_FALSE(replies[1].is_error("ER"));
  EXPECT_EQ(replies[2].integer, -7);
  EXPECT_EQ(replies[3].type, Type::nil);
  EXPECT_EQ(replies[4].text, "a\r\n");
  EXPECT_EQ(replies[5].type, Type::nil);
  EXPECT_EQ(replies[6].type, Type::array);
  ASSERT_EQ(replies[7].elements.size(), 3U);
  EXPECT_EQ(replies[7].elements[0].elements[0].integer, 1);
  EXPECT_EQ(replies[7].elements[1].text, "x");
  EXPECT_EQ(replies[7].elements[2].elements[0].type, Type::nil);
}

TEST(RedisResp, NonsenseIsAnErrorForGood) {
  for (const char* bytes : {"HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "*-2\r\n", ":1a\r\n", "$-5\r\n",
                            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "*2000000000\r\n"}) {
    ReplyReader reader(1'000);
    reader.feed(bytes);
    EXPECT_FALSE(reader.next()) << bytes;
    EXPECT_TRUE(reader.failed()) << bytes;
    reader.feed("+OK\r\n");
    EXPECT_FALSE(reader.next());
  }
}

TEST(RedisResp, WhatIsDeclaredTakesNoMemoryAndWhatIsTooLongEnds) {
  ReplyReader reader(100);
  reader.feed("$9223372036854775807\r\n");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.failed());  // waits for what never comes
  reader.feed(std::string(100, 'x'));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.failed());

  ReplyReader many(100);  // the limit counts each reply by itself
  for (int i = 0; i < 100; ++i) {
    many.feed("+0123456789\r\n");
    EXPECT_TRUE(many.next());
  }
}

TEST(RedisResp, ElementsAreCountedOverAllArrays) {
  ReplyReader reader(100'000'000);
  std::string bytes = "*30\r\n";
  for (int i = 0; i < 30; ++i) {
    bytes += "*50000\r\n";
    for (int n = 0; n < 50'000; ++n) bytes += ":1\r\n";
  }
  reader.feed(bytes);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.failed());
}

TEST(RedisResp, RandomBytesNeverCrash) {
  std::minstd_rand random(1);
  static constexpr std::string_view alphabet = "+-:$*\r\n0123456789ax";
  for (int round = 0; round < 5'000; ++round) {
    ReplyReader reader(1'000);
    std::string bytes;
    for (int i = 0; i < 40; ++i) bytes += alphabet[random() % alphabet.size()];
    reader.feed(bytes);
    while (reader.next()) {
    }
  }
}

}  // namespace
}  // namespace brink::cache::redis
