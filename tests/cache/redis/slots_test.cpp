#include "cache/redis/slots.hpp"

#include <gtest/gtest.h>

#include "cache/redis/resp.hpp"

namespace brink::cache::redis {
namespace {

const Node asked{"10.0.0.9", 7000};

Reply read(std::string_view bytes) {
  ReplyReader reader(100'000);
  reader.feed(bytes);
  auto reply = reader.next();
  EXPECT_TRUE(reply) << bytes;
  return reply ? std::move(*reply) : Reply{};
}

Reply error(std::string text) {
  Reply reply;
  reply.type = Reply::Type::error;
  reply.text = std::move(text);
  return reply;
}

// The values are those of CLUSTER KEYSLOT; 0x31C3 is from the specification.
TEST(RedisSlots, KeysAndTheirTags) {
  EXPECT_EQ(key_slot("123456789"), 0x31C3U);
  EXPECT_EQ(key_slot("foo"), 12182U);
  EXPECT_EQ(key_slot(""), 0U);
  EXPECT_EQ(key_slot("{user1000}.following"), key_slot("user1000"));
  EXPECT_EQ(key_slot("foo{{bar}}zap"), key_slot("{bar"));
  EXPECT_EQ(key_slot("foo{bar}{zap}"), key_slot("bar"));
  EXPECT_NE(key_slot("foo{}{bar}"), key_slot("bar"));
  EXPECT_NE(key_slot("foo{bar"), key_slot("bar"));
}

TEST(RedisSlots, Redirects) {
  const auto moved = read_redirect(error("MOVED 3999 127.0.0.1:6381"), asked);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->ask);
  EXPECT_EQ(moved->slot, 3999U);
  EXPECT_EQ(moved->node, (Node{"127.0.0.1", 6381}));
  const auto ask = read_redirect(error("ASK 1 ::1:6381"), asked);
  ASSERT_TRUE(ask);
  EXPECT_TRUE(ask->ask);
  EXPECT_EQ(ask->node, (Node{"::1", 6381}));
  EXPECT_EQ(read_redirect(error("MOVED 1 :6381"), asked)->node, (Node{"10.0.0.9", 6381}));
}

TEST(RedisSlots, RedirectsThatMakeNoSense) {
  for (const char* text :
       {"ERR x", "MOVED", "MOVED ", "MOVED 1", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED 1 a",
        "MOVED 1 a:", "MOVED 1 a:0", "MOVED 1 a:65536", "MOVED 1 ?:1", "MOVEDX 1 a:1", "ASK x a:1"}) {
    EXPECT_FALSE(read_redirect(error(text), asked)) << text;
  }
  EXPECT_FALSE(read_redirect(Reply{}, asked));
}

TEST(RedisSlots, TheMapFollowsTheReplyAndMoves) {
  SlotMap map;
  EXPECT_EQ(map.find(0), nullptr);
  ASSERT_TRUE(map.read(read("*2\r\n"
                            "*4\r\n:0\r\n:100\r\n*3\r\n$1\r\na\r\n:1\r\n$2\r\nid\r\n*3\r\n$1\r\nr\r\n:9\r\n$2\r\nid\r\n"
                            "*3\r\n:101\r\n:16383\r\n*2\r\n$-1\r\n:2\r\n"),
                       asked));
  EXPECT_EQ(*map.find(100), (Node{"a", 1}));
  EXPECT_EQ(*map.find(101), (Node{"10.0.0.9", 2})) << "no host: that of the node asked";
  EXPECT_TRUE(map.move(100, {"b", 3}));
  EXPECT_EQ(*map.find(100), (Node{"b", 3}));
  EXPECT_EQ(*map.find(99), (Node{"a", 1}));
  EXPECT_TRUE(map.contains({"b", 3}));
  EXPECT_FALSE(map.contains({"r", 9})) << "a replica";
}

TEST(RedisSlots, AReplyThatMakesNoSenseLeavesTheMap) {
  SlotMap map;
  ASSERT_TRUE(map.move(5, {"a", 1}));
  for (const char* bytes :
       {"+OK\r\n", "*0\r\n", "*1\r\n+x\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:1\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n", "*1\r\n*3\r\n:-1\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\n?\r\n:1\r\n"}) {
    EXPECT_FALSE(map.read(read(bytes), asked)) << bytes;
    EXPECT_EQ(*map.find(5), (Node{"a", 1}));
  }
}

TEST(RedisSlots, NodesAreBounded) {
  SlotMap map;
  for (std::uint16_t port = 1; port <= 1'000; ++port) ASSERT_TRUE(map.move(port, {"a", port}));
  EXPECT_FALSE(map.move(5, {"a", 2'000}));
  EXPECT_EQ(*map.find(5), (Node{"a", 5}));
}

}  // namespace
}  // namespace brink::cache::redis
