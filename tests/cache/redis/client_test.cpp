#include "cache/redis/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cache/redis/harness.hpp"

namespace brink::cache::redis::test {
namespace {

const auto silent = [](const FakeServer::Args&) { return std::string(); };
std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }
std::string echo(const FakeServer::Args& args) { return bulk(args.back()); }

// A client, and what it told.
struct Fixture {
  asio::io_context context{1};
  std::vector<std::string> states;
  std::vector<std::pair<ErrorKind, bool>> done;
  std::unique_ptr<Client> client;

  void open(Options options) {
    Events events;
    events.state = [this](bool, const std::string& text) { states.push_back(text); };
    events.done = [this](Operation, ErrorKind error, bool nil, std::chrono::microseconds) {
      done.emplace_back(error, nil);
    };
    client = std::make_unique<Client>(context, std::move(options), std::move(events));
  }
  Result get(const std::string& key) {
    Outcome outcome;
    client->get(key, outcome.callback());
    EXPECT_FALSE(outcome.called) << "inside the call";
    EXPECT_TRUE(run_until(context, [&] { return outcome.called; }));
    return outcome.result;
  }
  bool told(std::string_view part) const {
    return std::any_of(states.begin(), states.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
  }
  bool wait_told(std::string_view part) {
    return run_until(context, [&] { return told(part); });
  }
};

TEST(RedisClient, ManyCommandsAreAnsweredInOrder) {
  Fixture f;
  FakeServer server(f.context, echo);
  f.open(options_for(server.port(), 10s));
  std::vector<std::string> answers;
  for (int i = 0; i < 500; ++i)
    f.client->get(std::to_string(i), [&](Result&& result) { answers.push_back(result.reply.text); });
  ASSERT_TRUE(run_until(f.context, [&] { return answers.size() == 500; }));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_EQ(server.accepted, 1);
}

TEST(RedisClient, ASilentServerTimesOutThenIsNotAskedAndReconnected) {
  Fixture f;
  FakeServer server(f.context, silent);
  f.open(options_for(server.port(), 25ms));
  for (int i = 0; i < 5; ++i) {
    const Time start = Clock::now();
    EXPECT_EQ(f.get("a").error, ErrorKind::timeout);
    EXPECT_GE(Clock::now() - start, 25ms);
  }
  EXPECT_TRUE(f.told("not asked for"));
  const std::size_t heard = server.heard.size();
  const Result result = f.get("a");
  EXPECT_EQ(result.error, ErrorKind::unavailable);
  EXPECT_EQ(server.heard.size(), heard);
  EXPECT_TRUE(f.wait_told("does not answer"));
  EXPECT_TRUE(run_until(f.context, [&] { return server.accepted == 2; }));
  server.answer = echo;
  EXPECT_TRUE(run_until(f.context, [&] { return f.client->available(); }));
  EXPECT_EQ(f.get("b").reply.text, "b");
  EXPECT_TRUE(f.told("answers again"));
}

TEST(RedisClient, ALateReplyGoesToNobody) {
  Fixture f;
  int asked = 0;
  FakeServer server(
      f.context, [&](const FakeServer::Args&) { return ++asked == 1 ? std::string() : bulk("late") + bulk("right"); });
  Options options = options_for(server.port(), 500ms);
  f.open(options);
  EXPECT_EQ(f.get("a").error, ErrorKind::timeout);
  EXPECT_EQ(f.get("b").reply.text, "right");
  EXPECT_EQ(server.accepted, 1);
}

TEST(RedisClient, ASlowLoginMakesCommandsTimeOut) {
  Fixture f;
  FakeServer server(f.context, silent);
  server.answers_ping = false;
  Options options = options_for(server.port(), 25ms);
  options.connect_timeout = 300ms;
  f.open(options);
  EXPECT_EQ(f.get("a").error, ErrorKind::timeout);
  EXPECT_TRUE(f.wait_told("no answer in time"));
  EXPECT_EQ(f.get("a").error, ErrorKind::unavailable);
  EXPECT_TRUE(server.heard.empty()) << "what timed out was sent all the same";
}

TEST(RedisClient, NonsenseEndsTheConnectionAndTheNextOneServes) {
  for (const std::string nonsense :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "$99999999999999999999\r\n", "+a\r\n+unasked\r\n", "*2000000\r\n"}) {
    Fixture f;
    bool sane = false;
    FakeServer server(f.context, [&](const FakeServer::Args& args) { return sane ? echo(args) : nonsense; });
    f.open(options_for(server.port(), 10s));
    Outcome first, second;
    f.client->get("a", first.callback());
    f.client->get("b", second.callback());
    ASSERT_TRUE(run_until(f.context, [&] { return first.called && second.called; })) << nonsense;
    sane = true;
    ASSERT_TRUE(run_until(f.context, [&] { return server.accepted >= 2 && f.client->available(); }));
    ASSERT_TRUE(run_until(f.context, [&] { return f.get("c").reply.text == "c"; })) << nonsense;
  }
}

TEST(RedisClient, AReplyThatIsTooLargeIsAProtocolError) {
  Fixture f;
  FakeServer server(f.context, [&](const FakeServer::Args&) { return bulk(std::string(200'000, 'x')); });
  Options options = options_for(server.port(), 10s);
  options.max_reply_bytes = 100'000;
  f.open(options);
  EXPECT_EQ(f.get("a").error, ErrorKind::protocol);
}

TEST(RedisClient, ACutConnectionIsAMissAndIsOpenedAgain) {
  Fixture f;
  FakeServer server(f.context, [](const FakeServer::Args&) { return std::string(FakeServer::cut); });
  f.open(options_for(server.port(), 10s));
  EXPECT_EQ(f.get("a").error, ErrorKind::unavailable);
  server.answer = echo;
  ASSERT_TRUE(run_until(f.context, [&] { return f.client->available(); }));
  EXPECT_EQ(f.get("b").reply.text, "b");
}

TEST(RedisClient, NobodyListensUntilSomebodyDoes) {
  Fixture f;
  auto port = free_port();
  f.open(options_for(port, 10s));
  EXPECT_EQ(f.get("a").error, ErrorKind::unavailable);
  EXPECT_FALSE(f.client->available());
  EXPECT_EQ(f.get("a").error, ErrorKind::unavailable);
  EXPECT_EQ(f.states.size(), 1U) << "each attempt was told";
}

TEST(RedisClient, ErrorsThatSayThatTheServerIsSickStopTheAsking) {
  for (const std::string error : {"-LOADING Redis is loading\r\n", "-MASTERDOWN Link\r\n", "-BUSY script\r\n"}) {
    Fixture f;
    FakeServer server(f.context, [&](const FakeServer::Args&) { return error; });
    f.open(options_for(server.port(), 10s));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(f.get("a").error, ErrorKind::server);
    EXPECT_EQ(f.get("a").error, ErrorKind::unavailable) << error;
  }
  Fixture f;
  FakeServer full(f.context, [&](const FakeServer::Args&) { return std::string("-OOM command not allowed\r\n"); });
  f.open(options_for(full.port(), 10s));
  for (int i = 0; i < 10; ++i) {
    const Result result = f.get("a");
    EXPECT_EQ(result.error, ErrorKind::server);
    EXPECT_EQ(result.text, "OOM command not allowed");
  }
}

TEST(RedisClient, WhatWaitsIsBounded) {
  Fixture f;
  FakeServer server(f.context, silent);
  Options options = options_for(server.port(), 10s);
  options.max_in_flight = 3;
  options.max_queued_bytes = 1'000;
  f.open(options);
  Outcome many, large;
  for (int i = 0; i < 3; ++i) f.client->get("a", {});
  f.client->get("a", many.callback());
  f.client->set("a", std::string(1'001, 'x'), 1s, large.callback());
  EXPECT_FALSE(many.called || large.called);
  ASSERT_TRUE(run_until(f.context, [&] { return many.called && large.called; }));
  EXPECT_EQ(many.result.error, ErrorKind::refused);
  EXPECT_EQ(large.result.error, ErrorKind::refused);
}

TEST(RedisClient, WhatIsCancelledOrDestroyedIsNeverCalled) {
  Fixture f;
  FakeServer server(f.context, echo);
  Options options = options_for(server.port(), 10s);
  options.max_in_flight = 1;
  f.open(options);
  const auto never = [](Result&&) { FAIL(); };
  f.client->cancel(f.client->get("a", never));
  f.client->cancel(f.client->get("refused", never));
  f.client->cancel(12'345);
  ASSERT_TRUE(run_until(f.context, [&] { return server.heard.size() == 1; }));
  Outcome outcome;
  ASSERT_TRUE(run_until(f.context, [&] { return f.get("b").ok(); }));
  f.client->get("c", never);
  f.client->get("refused", never);
  f.client.reset();
  f.context.restart();
  f.context.run_for(50ms);
}

TEST(RedisClient, ACallbackMayIssueCommandsAndDestroyTheClient) {
  Fixture f;
  FakeServer server(f.context, echo);
  f.open(options_for(server.port(), 10s));
  int calls = 0;
  f.client->get("a", [&](Result&&) {
    ++calls;
    f.client->get("b", [&](Result&&) {
      ++calls;
      f.client.reset();
    });
    f.client->get("c", [](Result&&) { FAIL(); });
  });
  ASSERT_TRUE(run_until(f.context, [&] { return f.client == nullptr; }));
  EXPECT_EQ(calls, 2);

  f.open(options_for(free_port(), 10s));
  f.client->get("a", [&](Result&&) { f.client.reset(); });
  f.client->get("b", [](Result&&) { FAIL(); });
  EXPECT_TRUE(run_until(f.context, [&] { return f.client == nullptr; }));
}

TEST(RedisClient, EventsTellHitsMissesAndErrors) {
  Fixture f;
  FakeServer server(f.context, [](const FakeServer::Args& args) {
    return args[1] == "hit" ? bulk("x") : args[1] == "miss" ? "$-1\r\n" : "-WRONGTYPE x\r\n";
  });
  f.open(options_for(server.port(), 10s));
  for (const char* key : {"hit", "miss", "error"}) f.get(key);
  using Done = std::pair<ErrorKind, bool>;
  EXPECT_EQ(f.done, (std::vector<Done>{{ErrorKind::none, false}, {ErrorKind::none, true}, {ErrorKind::server, false}}));
}

// Redirects that lead nowhere: bounded, and what cannot be sent elsewhere is the server's error.
TEST(RedisClient, RedirectsWithoutEndAreCutOff) {
  Fixture f;
  FakeServer server(f.context, silent);
  int gets = 0;
  server.answer = [&](const FakeServer::Args& args) {
    if (args[0] == "CLUSTER") return std::string("-ERR no\r\n");
    ++gets;
    return "-MOVED 1 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
  };
  Options options = options_for(server.port(), 10s);
  options.mode = Options::Mode::cluster;
  f.open(options);
  const Result result = f.get("a");
  EXPECT_EQ(result.error, ErrorKind::server);
  EXPECT_EQ(gets, 6);
}

}  // namespace
}  // namespace brink::cache::redis::test
