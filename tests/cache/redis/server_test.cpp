// The client against real Redis servers.
#include <gtest/gtest.h>

#include <stdexcept>

#include "cache/redis/client.hpp"
#include "tests/cache/redis/harness.hpp"

namespace brink::cache::redis::test {
namespace {

class RedisServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!installed(redis_server)) GTEST_SKIP() << redis_server << " is not installed";
  }
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
  bool recovers() {
    return run_until(context, [&] { return client->available() && get("any").ok(); });
  }

  asio::io_context context{1};
  std::string states;
  std::unique_ptr<Client> client;
};

// In this order: a certificate for 127.0.0.1 and for localhost, and its key.
std::pair<std::string, std::string> make_certificate(const TempDir& dir, const std::string& name) {
  const std::string certificate = dir.file("cert.pem"), key = dir.file("key.pem");
  Process openssl({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                   "-nodes", "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=" + name, "-keyout", key,
                   "-out", certificate});
  EXPECT_EQ(openssl.wait(), 0);
  return {certificate, key};
}

TEST_F(RedisServer, ValuesComeBackAndExpire) {
  Server server;
  open(options_for(server.port, 10s));
  EXPECT_TRUE(get("a").nil());
  const std::string value("any \0 \r\n bytes", 14);
  EXPECT_TRUE(set("a", value).ok());
  EXPECT_EQ(get("a").reply.text, value);
  const std::string large(3'000'000, 'x');
  EXPECT_TRUE(set("large", large).ok());
  EXPECT_EQ(get("large").reply.text, large);
  const std::string ttl = server.ask({"PTTL", "a"});
  EXPECT_GT(std::stoi(ttl), 0) << ttl;
  EXPECT_LE(std::stoi(ttl), 60'000);

  Outcome deleted, published, other;
  const std::vector<std::string> keys{"a", "large", "none"};
  client->del(keys, deleted.callback());
  EXPECT_EQ(wait(deleted).reply.integer, 2);
  client->publish("channel", "message", published.callback());
  EXPECT_EQ(wait(published).reply.integer, 0);
  const std::string_view args[] = {"INCRBY", "n", "5"};
  client->command(args, other.callback());
  EXPECT_EQ(wait(other).reply.integer, 5);
}

TEST_F(RedisServer, UnixSocketUserAndDatabase) {
  TempDir dir;
  Server server({"--unixsocket", dir.file("r.sock"), "--user", "alice", "on", ">p@ss", "~*", "+@all"});
  Options options;
  ASSERT_EQ(parse("unix://alice:p%40ss@" + dir.file("r.sock") + "?db=3", options), "");
  options.timeout = 10s;
  open(options);
  EXPECT_TRUE(set("a", "1").ok());
  EXPECT_EQ(server.ask({"GET", "a"}), "(nil)") << "in database 0";
  EXPECT_EQ(get("a").reply.text, "1");
}

TEST_F(RedisServer, PasswordsOfTheDefaultUser) {
  Server server({"--user", "default", "on", ">secret", "~*", "+@all"});
  Options options = options_for(server.port, 10s);
  options.password = "secret";
  open(options);
  EXPECT_TRUE(set("a", "1").ok());
  options.password = "wrong";
  open(options);
  EXPECT_EQ(get("a").error, ErrorKind::unavailable);
  EXPECT_NE(states.find("AUTH refused"), std::string::npos) << states;
  options.password.clear();
  open(options);
  EXPECT_EQ(get("a").error, ErrorKind::unavailable);
  EXPECT_NE(states.find("NOAUTH"), std::string::npos) << states;
}

TEST_F(RedisServer, TlsVerifiesWhoAnswers) {
  TempDir dir;
  const auto [certificate, key] = make_certificate(dir, "DNS:localhost,IP:127.0.0.1");
  const std::uint16_t port = free_port();
  Server server({"--tls-port", std::to_string(port), "--tls-cert-file", certificate, "--tls-key-file", key,
                 "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"});
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    Options options = options_for(port, 10s);
    options.tls = true;
    options.ca_file = certificate;
    options.nodes[0].host = host;
    open(options);
    const std::string large(300'000, 'x');
    EXPECT_TRUE(set("a", large).ok()) << host << states;
    EXPECT_EQ(get("a").reply.text, large);
  }
  Options unknown = options_for(port, 10s);
  unknown.tls = true;
  open(unknown);
  EXPECT_EQ(get("a").error, ErrorKind::unavailable) << "signed by nobody known";
  unknown.insecure = true;
  open(unknown);
  EXPECT_TRUE(get("a").ok());
  unknown.ca_file = dir.file("none.pem");
  EXPECT_THROW(open(unknown), std::runtime_error);
}

TEST_F(RedisServer, TlsRefusesAnotherName) {
  TempDir dir;
  const auto [certificate, key] = make_certificate(dir, "DNS:elsewhere.example");
  const std::uint16_t port = free_port();
  Server server({"--tls-port", std::to_string(port), "--tls-cert-file", certificate, "--tls-key-file", key,
                 "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no"});
  Options options = options_for(port, 10s);
  options.tls = true;
  options.ca_file = certificate;
  for (const char* host : {"localhost", "127.0.0.1"}) {
    options.nodes[0].host = host;
    open(options);
    EXPECT_EQ(get("a").error, ErrorKind::unavailable) << host;
  }
}

TEST_F(RedisServer, AFullServerRefusesWritesAndStillReads) {
  Server server({"--maxmemory-policy", "noeviction"});
  open(options_for(server.port, 10s));
  EXPECT_TRUE(set("a", "1").ok());
  EXPECT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "1"}), "OK");
  const Result full = set("c", "1");
  EXPECT_EQ(full.error, ErrorKind::server);
  EXPECT_TRUE(full.text.starts_with("OOM")) << full.text;
  EXPECT_EQ(get("a").reply.text, "1");
}

TEST_F(RedisServer, AStoppedServerTimesOutAndRecovers) {
  Server server;
  open(options_for(server.port, 100ms));
  ASSERT_TRUE(recovers());
  server.process->signal(SIGSTOP);
  EXPECT_EQ(get("a").error, ErrorKind::timeout);
  ASSERT_TRUE(run_until(context, [&] { return get("a").error == ErrorKind::unavailable; }));
  server.process->signal(SIGCONT);
  EXPECT_TRUE(recovers()) << states;
}

TEST_F(RedisServer, ARestartedServerServesAgain) {
  Server server;
  open(options_for(server.port, 10s));
  ASSERT_TRUE(set("a", "1").ok());
  server.stop();
  ASSERT_TRUE(run_until(context, [&] { return get("a").error == ErrorKind::unavailable; }));
  server.start();
  EXPECT_TRUE(recovers());
  EXPECT_TRUE(get("a").nil());
}

TEST_F(RedisServer, AReplicaRefusesWrites) {
  Server server;
  open(options_for(server.port, 10s));
  ASSERT_TRUE(set("a", "1").ok());
  server.ask({"REPLICAOF", "127.0.0.1", std::to_string(free_port())});
  const Result refused = set("a", "2");
  EXPECT_EQ(refused.error, ErrorKind::server);
  EXPECT_TRUE(refused.text.starts_with("READONLY")) << refused.text;
}

}  // namespace
}  // namespace brink::cache::redis::test
