#include "cache/redis/subscriber.hpp"

#include <gtest/gtest.h>

#include "tests/cache/redis/harness.hpp"

namespace brink::cache::redis::test {
namespace {

struct Listener {
  asio::io_context context{1};
  std::vector<std::string> messages, losses, troubles;
  int restored = 0;
  std::unique_ptr<Subscriber> subscriber;

  void open(Options options, Subscriber::Timing timing = {}) {
    Subscriber::Handlers handlers;
    handlers.on_message = [this](std::string&& message) { messages.push_back(std::move(message)); };
    handlers.on_lost = [this](const std::string& why) { losses.push_back(why); };
    handlers.on_restored = [this] { ++restored; };
    handlers.on_trouble = [this](const std::string& text) { troubles.push_back(text); };
    subscriber = std::make_unique<Subscriber>(context, std::move(options), "brink:purge", std::move(handlers), timing);
  }
  bool wait_restored(int times) {
    return run_until(context, [&] { return restored >= times; });
  }
};

constexpr std::string_view subscribed = "*3\r\n$9\r\nsubscribe\r\n$11\r\nbrink:purge\r\n:1\r\n";

TEST(RedisSubscriber, HearsMessagesAndSaysWhatItMissed) {
  if (!installed(redis_server)) GTEST_SKIP() << redis_server << " is not installed";
  Server server({"--user", "alice", "on", ">secret", "~*", "&*", "+@all"});
  Listener l;
  Options options = options_for(server.port, 10s);
  options.user = "alice";
  options.password = "secret";
  l.open(options, {20ms, 10s});
  EXPECT_FALSE(l.subscriber->connected());
  ASSERT_TRUE(l.wait_restored(1));
  EXPECT_TRUE(l.subscriber->connected());
  const std::string binary("a\0\r\nb", 5);
  EXPECT_EQ(server.ask({"PUBLISH", "brink:purge", binary}), "1");
  EXPECT_EQ(server.ask({"PUBLISH", "brink:purge", ""}), "1");
  EXPECT_EQ(server.ask({"PUBLISH", "other", "x"}), "0");
  ASSERT_TRUE(run_until(l.context, [&] { return l.messages.size() == 2; }));
  EXPECT_EQ(l.messages, (std::vector<std::string>{binary, ""}));

  const auto pings = [&] {
    const std::string stats = server.ask({"INFO", "commandstats"});
    const std::size_t at = stats.find("cmdstat_ping:calls=");
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + 19));
  };
  const int before = pings();
  EXPECT_TRUE(run_until(l.context, [&] { return pings() >= before + 3; })) << "one an interval";
  EXPECT_EQ(l.losses.size(), 0U);
  server.stop();
  ASSERT_TRUE(run_until(l.context, [&] { return l.losses.size() == 1; }));
  EXPECT_FALSE(l.subscriber->connected());
  server.start();
  ASSERT_TRUE(l.wait_restored(2));
  EXPECT_EQ(l.losses.size(), 1U);
  server.ask({"PUBLISH", "brink:purge", "again"});
  ASSERT_TRUE(run_until(l.context, [&] { return l.messages.size() == 3; }));
}

TEST(RedisSubscriber, AServerThatStopsAnsweringIsLost) {
  Listener l;
  FakeServer server(l.context, [](const FakeServer::Args&) { return std::string(subscribed); });
  l.open(options_for(server.port(), 10s), {20ms, 100ms});
  ASSERT_TRUE(l.wait_restored(1));
  // The fake answers PING as outside of a subscription: no pong, but nonsense there.
  ASSERT_TRUE(run_until(l.context, [&] { return l.losses.size() == 1; }));
  EXPECT_NE(l.losses[0].find("nobody asked"), std::string::npos) << l.losses[0];
  ASSERT_TRUE(l.wait_restored(2));
  server.answers_ping = false;
  ASSERT_TRUE(run_until(l.context, [&] { return l.losses.size() >= 2; }));
  EXPECT_NE(l.losses.back().find("no answer in time"), std::string::npos) << l.losses.back();
}

TEST(RedisSubscriber, TroubleIsToldOnceForAReasonAndNeverAsALoss) {
  Listener l;
  FakeServer server(l.context, [](const FakeServer::Args&) { return std::string("-NOPERM no channel\r\n"); });
  l.open(options_for(server.port(), 10s));
  ASSERT_TRUE(run_until(l.context, [&] { return server.accepted >= 3; }));
  ASSERT_EQ(l.troubles.size(), 1U);
  EXPECT_NE(l.troubles[0].find("NOPERM"), std::string::npos);
  EXPECT_TRUE(l.losses.empty());
  EXPECT_EQ(l.restored, 0);
  server.answer = [](const FakeServer::Args&) { return std::string(subscribed); };
  EXPECT_TRUE(l.wait_restored(1));
}

TEST(RedisSubscriber, MayBeDestroyedByWhatItCalls) {
  Listener l;
  FakeServer server(l.context, [](const FakeServer::Args&) {
    return std::string(subscribed) + "*3\r\n$7\r\nmessage\r\n$11\r\nbrink:purge\r\n$1\r\nx\r\n";
  });
  Subscriber::Handlers handlers;
  handlers.on_restored = [&] { l.subscriber.reset(); };
  handlers.on_message = [](std::string&&) { FAIL(); };
  handlers.on_lost = [](const std::string&) { FAIL(); };
  l.subscriber = std::make_unique<Subscriber>(l.context, options_for(server.port(), 10s), "brink:purge", handlers);
  EXPECT_TRUE(run_until(l.context, [&] { return l.subscriber == nullptr; }));
  l.context.restart();
  l.context.run_for(20ms);
}

TEST(RedisSubscriber, InAClusterTheNextNodeIsTried) {
  Listener l;
  FakeServer server(l.context, [](const FakeServer::Args&) { return std::string(subscribed); });
  Options options = options_for(free_port(), 10s);
  options.mode = Options::Mode::cluster;
  options.nodes.push_back({"127.0.0.1", server.port()});
  l.open(options);
  EXPECT_TRUE(l.wait_restored(1));
}

}  // namespace
}  // namespace brink::cache::redis::test
