#include "proxy/net/resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/proxy/net/dns_server.hpp"

namespace brink::net {
namespace {

using namespace std::chrono_literals;
using brink::testing::DnsServer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Collects updates for the test's thread, which takes them one by one.
class Updates {
 public:
  Resolver::Callback callback() {
    return [this](const Resolver::Update& update) {
      const std::lock_guard lock(mutex_);
      updates_.push_back(update);
      changed_.notify_all();
    };
  }
  Resolver::Update next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [&] { return updates_.size() > taken_; })) {
      ADD_FAILURE() << "no update";
      return {};
    }
    return updates_[taken_++];
  }
  std::size_t left() {
    const std::lock_guard lock(mutex_);
    return updates_.size() - taken_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Resolver::Update> updates_;
  std::size_t taken_ = 0;
};

std::vector<std::string> texts(const Resolver::Update& update) {
  std::vector<std::string> all;
  for (const auto& endpoint : update.addresses) {
    all.push_back(endpoint.address().to_string() + " " + std::to_string(endpoint.port()));
  }
  return all;
}

// Waits that let a test see several rounds; a TTL of 1 s counts in full.
Resolver::Options quick(const DnsServer& server) {
  Resolver::Options options;
  options.servers = server.address();
  options.min_ttl = 20ms;
  options.retry_min = 20ms;
  options.retry_max = 50ms;
  options.refresh_interval = 20ms;
  return options;
}

TEST(Resolver, ANumericAddressIsItsOwnAnswer) {
  DnsServer server;
  Resolver resolver(quick(server));
  Updates v4, v6;
  const auto first = resolver.watch("192.0.2.1", 80, v4.callback());
  const auto second = resolver.watch("2001:db8::1", 8080, v6.callback());
  EXPECT_THAT(texts(v4.next()), ElementsAre("192.0.2.1 80"));
  EXPECT_THAT(texts(v6.next()), ElementsAre("2001:db8::1 8080"));
  EXPECT_EQ(server.asked("192.0.2.1"), 0);
}

TEST(Resolver, ANameIsAskedAgainWhenItsTimeToLiveIsOver) {
  DnsServer server;
  server.set("gpu.test", {"192.0.2.1", "192.0.2.2"}, 1);
  Resolver resolver(quick(server));
  Updates updates;
  const auto before = std::chrono::steady_clock::now();
  const auto watch = resolver.watch("gpu.test", 8000, updates.callback());
  EXPECT_THAT(texts(updates.next()), ::testing::UnorderedElementsAre("192.0.2.1 8000", "192.0.2.2 8000"));
  server.set("gpu.test", {"192.0.2.9"}, 1);
  EXPECT_THAT(texts(updates.next()), ElementsAre("192.0.2.9 8000"));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 1s);
  ASSERT_TRUE(server.wait_asked("gpu.test", 3));  // again, but the answer stays
  EXPECT_EQ(updates.left(), 0U);
}

TEST(Resolver, AFailureKeepsTheLastGoodAddressesAndIsTriedAgain) {
  DnsServer server;
  server.set("gpu.test", {"192.0.2.1"}, 0);
  Resolver resolver(quick(server));
  Updates updates;
  const auto watch = resolver.watch("gpu.test", 80, updates.callback());
  EXPECT_THAT(updates.next().error, IsEmpty());
  server.set_mode(DnsServer::Mode::refuses);
  const auto failed = updates.next();
  EXPECT_THAT(failed.error, Not(IsEmpty()));
  EXPECT_THAT(texts(failed), ElementsAre("192.0.2.1 80"));
  server.set_mode(DnsServer::Mode::answers);
  const auto recovered = updates.next();
  EXPECT_THAT(recovered.error, IsEmpty());
  EXPECT_THAT(texts(recovered), ElementsAre("192.0.2.1 80"));
}

TEST(Resolver, ANameThatAppearsLaterIsFound) {
  DnsServer server;
  Resolver resolver(quick(server));
  Updates updates;
  const auto watch = resolver.watch("late.test", 80, updates.callback());
  const auto absent = updates.next();
  EXPECT_THAT(absent.error, Not(IsEmpty()));
  EXPECT_THAT(absent.addresses, IsEmpty());
  server.set("late.test", {"192.0.2.5"}, 60);
  EXPECT_THAT(texts(updates.next()), ElementsAre("192.0.2.5 80"));
}

TEST(Resolver, RefreshAsksBeforeTheTimeToLiveIsOver) {
  DnsServer server;
  server.set("gpu.test", {"192.0.2.1"}, 3600);
  Resolver::Options options = quick(server);
  options.refresh_interval = 500ms;
  Resolver resolver(options);
  Updates updates;
  const auto watch = resolver.watch("gpu.test", 80, updates.callback());
  updates.next();
  server.set("gpu.test", {"192.0.2.2"}, 3600);
  for (int i = 0; i < 100; ++i) resolver.refresh("gpu.test");
  resolver.refresh("unknown.test");
  EXPECT_THAT(texts(updates.next()), ElementsAre("192.0.2.2 80"));
  EXPECT_LE(server.asked("gpu.test"), 4);
  EXPECT_EQ(server.asked("unknown.test"), 0);
}

TEST(Resolver, WatchersOfOneNameShareItsQueries) {
  DnsServer server;
  server.set("gpu.test", {"192.0.2.1"}, 3600);
  Resolver resolver(quick(server));
  Updates first, second;
  const auto one = resolver.watch("gpu.test", 80, first.callback());
  EXPECT_THAT(texts(first.next()), ElementsAre("192.0.2.1 80"));
  const auto two = resolver.watch("gpu.test", 81, second.callback());
  EXPECT_THAT(texts(second.next()), ElementsAre("192.0.2.1 81"));
  EXPECT_EQ(server.asked("gpu.test"), 1);
}

TEST(Resolver, AnEndedWatchIsSilentAndItsNameIsNoLongerAsked) {
  DnsServer server;
  server.set("gone.test", {"192.0.2.1"}, 0);
  server.set("kept.test", {"192.0.2.2"}, 0);
  Resolver resolver(quick(server));
  Updates gone, kept;
  auto watch = resolver.watch("gone.test", 80, gone.callback());
  const auto other = resolver.watch("kept.test", 80, kept.callback());
  gone.next();
  kept.next();
  watch = {};
  const int asked = server.asked("gone.test");
  ASSERT_TRUE(server.wait_asked("kept.test", server.asked("kept.test") + 5));
  EXPECT_LE(server.asked("gone.test"), asked + 1);  // one may have been on its way
  EXPECT_EQ(gone.left(), 0U);
}

TEST(Resolver, ACallbackMayEndWatchesAndBeginOthers) {
  DnsServer server;
  server.set("gpu.test", {"192.0.2.1"}, 0);
  Resolver resolver(quick(server));
  Updates updates;
  std::promise<void> ready;
  std::optional<Resolver::Watch> own, never;
  own = resolver.watch("gpu.test", 80, [&, tell = updates.callback()](const Resolver::Update& update) {
    ready.get_future().wait();  // `own` is set
    never = resolver.watch("192.0.2.77", 1, [](const Resolver::Update&) { ADD_FAILURE() << "called after its end"; });
    never.reset();
    const auto mine = tell;  // outlives this closure
    own.reset();
    mine(update);
  });
  ready.set_value();
  EXPECT_THAT(texts(updates.next()), ElementsAre("192.0.2.1 80"));
  Updates last;
  const auto after = resolver.watch("192.0.2.78", 2, last.callback());
  last.next();
  EXPECT_EQ(updates.left(), 0U);
}

TEST(Resolver, StopDoesNotWaitForASilentServer) {
  DnsServer server;
  server.set_mode(DnsServer::Mode::silent);
  Resolver resolver(quick(server));
  Updates updates;
  auto watch = resolver.watch("gpu.test", 80, updates.callback());
  ASSERT_TRUE(server.wait_asked("gpu.test", 1));
  const auto before = std::chrono::steady_clock::now();
  resolver.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
  EXPECT_EQ(updates.left(), 0U);
  resolver.refresh("gpu.test");
  const auto late = resolver.watch("192.0.2.1", 80, updates.callback());
  watch = {};
  EXPECT_EQ(updates.left(), 0U);
}

TEST(Resolver, TheSystemsHostsFileIsRead) {
  Resolver resolver;
  Updates updates;
  const auto watch = resolver.watch("localhost", 80, updates.callback());
  const auto update = updates.next();
  ASSERT_THAT(update.error, IsEmpty());
  EXPECT_TRUE(update.addresses.at(0).address().is_loopback());
}

TEST(Resolver, ABadListOfServersIsRefused) {
  Resolver::Options options;
  options.servers = "not an address";
  EXPECT_THROW(Resolver{options}, std::runtime_error);
}

TEST(Resolver, ManyThreadsWatchRefreshAndEnd) {
  DnsServer server;
  for (int i = 0; i < 4; ++i) server.set("n" + std::to_string(i) + ".test", {"192.0.2.1"}, 0);
  Resolver resolver(quick(server));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, name = "n" + std::to_string(i) + ".test"] {
      for (int round = 0; round < 20; ++round) {
        Updates updates;
        const auto watch = resolver.watch(name, 80, updates.callback());
        resolver.refresh(name);
        EXPECT_THAT(texts(updates.next()), ElementsAre("192.0.2.1 80"));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace brink::net
