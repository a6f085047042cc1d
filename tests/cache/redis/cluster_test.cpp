// The client against a real cluster, and against a master that sentinels watch.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "cache/redis/client.hpp"
#include "cache/redis/slots.hpp"
#include "tests/cache/redis/harness.hpp"

namespace brink::cache::redis::test {
namespace {

struct Fixture {
  asio::io_context context{1};
  std::string states;
  std::unique_ptr<Client> client;

  void open(Options options) {
    Events events;
    events.state = [this](bool, const std::string& text) { states += text + "\n"; };
    client = std::make_unique<Client>(context, std::move(options), std::move(events));
  }
  Result wait(Outcome& outcome) {
    EXPECT_TRUE(run_until(context, [&] { return outcome.called; }));
    return outcome.result;
  }
  Result get(const std::string& key) {
    Outcome outcome;
    client->get(key, outcome.callback());
    return wait(outcome);
  }
  Result set(const std::string& key, const std::string& value) {
    Outcome outcome;
    client->set(key, value, 60s, outcome.callback());
    return wait(outcome);
  }
};

// Three masters, each with a third of the slots.
class ThreeNodes {
 public:
  ThreeNodes() {
    for (int i = 0; i < 3; ++i) {
      bus_[i] = free_port();
      nodes[i] = std::make_unique<Server>(std::vector<std::string>{"--cluster-enabled", "yes", "--cluster-port",
                                                                   std::to_string(bus_[i]),
                                                                   "--cluster-require-full-coverage", "no"});
      ids[i] = nodes[i]->ask({"CLUSTER", "MYID"});
    }
    for (int i = 0; i < 3; ++i) {
      nodes[i]->ask({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot(i)), std::to_string(first_slot(i + 1) - 1)});
      nodes[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
    for (int i = 1; i < 3; ++i) {
      nodes[0]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes[i]->port), std::to_string(bus_[i])});
    }
    for (const auto& node : nodes) {
      formed = formed && node->ask_until({"CLUSTER", "INFO"}, "cluster_slots_ok:16384");
      formed = formed && node->ask_until({"CLUSTER", "INFO"}, "cluster_state:ok");
    }
  }
  static unsigned first_slot(int node) { return static_cast<unsigned>(node) * slot_count / 3; }
  // A key that node i holds.
  static std::string key_of(int node) {
    for (int n = 0;; ++n) {
      const unsigned slot = key_slot("key" + std::to_string(n));
      if (slot >= first_slot(node) && slot < first_slot(node + 1)) return "key" + std::to_string(n);
    }
  }
  Options options() const {
    Options options = options_for(nodes[0]->port, 10s);
    options.mode = Options::Mode::cluster;
    return options;
  }

  std::unique_ptr<Server> nodes[3];
  std::string ids[3];
  bool formed = true;

 private:
  std::uint16_t bus_[3];
};

TEST(RedisCluster, KeysGoToTheirNodesAndFollowThemWhenTheyMove) {
  if (!installed(redis_server)) GTEST_SKIP() << redis_server << " is not installed";
  ThreeNodes cluster;
  ASSERT_TRUE(cluster.formed);
  Fixture f;
  f.open(cluster.options());
  std::vector<std::string> keys;
  for (int i = 0; i < 60; ++i) keys.push_back("k" + std::to_string(i));
  for (const std::string& key : keys) EXPECT_TRUE(f.set(key, key).ok()) << key;
  for (const std::string& key : keys) EXPECT_EQ(f.get(key).reply.text, key);
  for (const auto& node : cluster.nodes) EXPECT_NE(node->ask({"DBSIZE"}), "0");
  // Once the map is known, no command goes astray.
  const auto redirected = [&] {
    std::string all;
    for (const auto& node : cluster.nodes) {
      const std::string stats = node->ask({"INFO", "errorstats"});
      const std::size_t at = stats.find("errorstat_MOVED");
      all += at == std::string::npos ? "" : stats.substr(at, stats.find('\r', at) - at);
    }
    return all;
  };
  const std::string before = redirected();
  for (const std::string& key : keys) f.get(key);
  EXPECT_EQ(redirected(), before);

  Outcome deleted;
  f.client->del(keys, deleted.callback());
  EXPECT_EQ(f.wait(deleted).reply.integer, 60);
  Outcome published;
  f.client->publish("c", "m", published.callback());
  EXPECT_TRUE(f.wait(published).ok());

  // ASK: the slot is on its way from 0 to 1, and what 0 does not have is asked of 1.
  const std::string key = ThreeNodes::key_of(0), slot = std::to_string(key_slot(key));
  EXPECT_EQ(cluster.nodes[1]->ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.ids[0]}), "OK");
  EXPECT_EQ(cluster.nodes[0]->ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ids[1]}), "OK");
  EXPECT_TRUE(f.set(key, "moved").ok());
  EXPECT_EQ(cluster.nodes[1]->ask({"CLUSTER", "COUNTKEYSINSLOT", slot}), "1");
  EXPECT_EQ(f.get(key).reply.text, "moved");

  // MOVED: it has arrived.
  for (int i : {1, 0, 2}) cluster.nodes[i]->ask({"CLUSTER", "SETSLOT", slot, "NODE", cluster.ids[1]});
  EXPECT_EQ(f.get(key).reply.text, "moved");
  EXPECT_EQ(f.get(key).reply.text, "moved");

  // A dead node is the misses of its keys only.
  cluster.nodes[2]->stop();
  const std::string dead = ThreeNodes::key_of(2), alive = ThreeNodes::key_of(1);
  ASSERT_TRUE(run_until(f.context, [&] { return f.get(dead).error == ErrorKind::unavailable; }));
  EXPECT_TRUE(f.get(alive).ok());
  EXPECT_TRUE(f.client->available());
}

TEST(RedisCluster, AnotherSeedAnswersForADeadOne) {
  if (!installed(redis_server)) GTEST_SKIP() << redis_server << " is not installed";
  ThreeNodes cluster;
  ASSERT_TRUE(cluster.formed);
  Fixture f;
  Options options = cluster.options();
  options.nodes = {{"127.0.0.1", free_port()}, cluster.nodes[1]->node()};
  f.open(options);
  for (int i = 0; i < 3; ++i) {
    const std::string key = ThreeNodes::key_of(i);
    EXPECT_TRUE(run_until(f.context, [&] { return f.set(key, "x").ok(); })) << f.states;
  }
}

TEST(RedisSentinel, TheClientFollowsTheMaster) {
  if (!installed(redis_server)) GTEST_SKIP() << redis_server << " is not installed";
  const std::string now = "--repl-diskless-sync-delay";  // a replica is served at once
  Server first({now, "0"}), second({now, "0", "--replicaof", "127.0.0.1", std::to_string(first.port)});
  ASSERT_TRUE(second.ask_until({"INFO", "replication"}, "master_link_status:up"));
  TempDir dir;
  std::ofstream(dir.file("sentinel.conf")) << "sentinel monitor main 127.0.0.1 " << first.port << " 1\n"
                                           << "sentinel down-after-milliseconds main 1000\n";
  const std::uint16_t port = free_port();
  Process sentinel({redis_server, dir.file("sentinel.conf"), "--sentinel", "--port", std::to_string(port), "--bind",
                    "127.0.0.1", "--dir", dir.file("")});
  const Time end = Clock::now() + limit;
  const auto ask = [&](const std::vector<std::string>& args) { return ask_port(port, args); };
  while (ask({"SENTINEL", "DEBUG", "INFO-PERIOD", "1000", "PING-PERIOD", "50", "PUBLISH-PERIOD", "50"}).empty() &&
         Clock::now() < end)
    std::this_thread::sleep_for(20ms);
  while (ask({"SENTINEL", "replicas", "main"}).find("127.0.0.1:" + std::to_string(second.port)) == std::string::npos &&
         Clock::now() < end) {
    std::this_thread::sleep_for(20ms);
  }

  Fixture f;
  Options options = options_for(free_port(), 10s);  // a sentinel that is down, then one that is up
  options.nodes.push_back({"127.0.0.1", port});
  options.mode = Options::Mode::sentinel;
  options.master_name = "main";
  f.open(options);
  ASSERT_TRUE(run_until(f.context, [&] { return f.set("a", "1").ok(); })) << f.states;
  EXPECT_EQ(first.ask({"GET", "a"}), "1");

  // A sentinel gives up where it has not heard from the replica lately: asked again until it is done.
  while (!second.ask({"ROLE"}).starts_with("master") && Clock::now() < end) {
    ask({"SENTINEL", "FAILOVER", "main"});
    std::this_thread::sleep_for(20ms);
  }
  ASSERT_TRUE(run_until(f.context, [&] {
    return f.set("b", "2").ok() && second.ask({"GET", "b"}) == "2";
  })) << f.states;

  Fixture unknown;
  options.master_name = "none";
  unknown.open(options);
  EXPECT_EQ(unknown.get("a").error, ErrorKind::unavailable);
  EXPECT_NE(unknown.states.find("does not know the master none"), std::string::npos) << unknown.states;
}

}  // namespace
}  // namespace brink::cache::redis::test
