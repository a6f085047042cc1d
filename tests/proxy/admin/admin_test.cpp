#include "proxy/admin/admin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace brink::admin {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// An Admin over a small configuration, whose requests are written as they come from the wire.
struct AdminTest : ::testing::Test {
  AdminTest() {
    config->effective_json = R"({"node":{"id":"test"}})";
    conf::ClusterConfig gpu;
    gpu.name = "gpu";
    config->clusters.push_back(gpu);
    conf::RouteConfig chat;
    chat.name = "chat";
    chat.match.path = "/v1/chat/completions";
    chat.match.headers = {{"x-tier", "hidden-value"}};
    chat.clusters = {{"gpu", 1}};
    config->routes.push_back(chat);
    conf::RouteConfig fixed;
    fixed.name = "fixed";
    fixed.respond.emplace().status = 204;
    config->routes.push_back(fixed);
  }

  http::LocalReply ask(const std::string& method, const std::string& path, const std::string& host = "127.0.0.1:9901",
                       const std::string& fields = "", const std::string& body = "") {
    const std::string bytes = method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n";
    http::RequestHead head;
    const auto parsed = http::parse_request(bytes, {}, head);
    EXPECT_EQ(parsed.error, http::HeadError::ok) << parsed.what;
    return Admin(sources).handle(head, body);
  }
  http::LocalReply purge(const std::string& body, const std::string& fields = "") {
    return ask("POST", "/cache/purge", "localhost:9901", fields, body);
  }
  bool takes_body(const std::string& method, const std::string& path, const std::string& fields = "") {
    const std::string bytes = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
    http::RequestHead head;
    EXPECT_EQ(http::parse_request(bytes, {}, head).error, http::HeadError::ok);
    return Admin(sources).takes_body(head);
  }
  static std::string header(const http::LocalReply& reply, const std::string& name) {
    for (const auto& [key, value] : reply.headers) {
      if (key == name) return value;
    }
    return "";
  }

  std::shared_ptr<conf::Config> config = std::make_shared<conf::Config>();
  std::shared_ptr<router::EndpointState> endpoint = std::make_shared<router::EndpointState>("10.0.0.1:8000");
  Readiness readiness{true, ""};
  ReloadOutcome outcome{true, {}};
  int reloads = 0, drains = 0;
  CacheView cache_view;
  std::vector<std::pair<cache::Purge, bool>> purges;
  Sources sources{
      [this] { return config; },
      [this] {
        return std::vector<EndpointView>{{"gpu", 3, endpoint}};
      },
      [this] { return readiness; },
      [this] {
        ++reloads;
        return outcome;
      },
      [this] { ++drains; },
      [] { return std::string("brink_up 1\n"); },
      [](std::string_view route) { return route == "chat" ? 42U : 0U; },
      [this] { return cache_view; },
      [this](const cache::Purge& what, bool soft) {
        purges.emplace_back(what, soft);
        return std::size_t{3};
      },
  };
};

TEST_F(AdminTest, SaysHowItIs) {
  EXPECT_EQ(ask("GET", "/healthz").status, 200U);
  EXPECT_EQ(json::parse(ask("GET", "/readyz").body), json::parse(R"({"ready":true})"));
  readiness = {false, "draining"};
  const auto draining = ask("GET", "/readyz");
  EXPECT_EQ(draining.status, 503U);
  EXPECT_EQ(json::parse(draining.body).at("reason"), "draining");
  EXPECT_EQ(ask("GET", "/healthz").status, 200U);
}

TEST_F(AdminTest, MetricsAreText) {
  const auto reply = ask("GET", "/metrics");
  EXPECT_THAT(header(reply, "content-type"), ::testing::StartsWith("text/plain; version=0.0.4"));
  EXPECT_EQ(reply.body, "brink_up 1\n");
}

TEST_F(AdminTest, ConfigIsTheEffectiveOne) {
  EXPECT_EQ(json::parse(ask("GET", "/config").body).at("node").at("id"), "test");
}

TEST_F(AdminTest, ClustersShowEachEndpoint) {
  endpoint->in_flight = 7;
  endpoint->requests = 9;
  endpoint->failures = 2;
  endpoint->healthy = false;
  const json cluster = json::parse(ask("GET", "/clusters").body).at("clusters").at(0);
  EXPECT_EQ(cluster.at("name"), "gpu");
  EXPECT_EQ(cluster.at("balance"), "score");
  const json seen = cluster.at("endpoints").at(0);
  EXPECT_EQ(seen.at("name"), "10.0.0.1:8000");
  EXPECT_EQ(seen.at("weight"), 3);
  EXPECT_EQ(seen.at("healthy"), false);
  EXPECT_EQ(seen.at("in_flight"), 7);
  EXPECT_EQ(seen.at("requests"), 9);
  EXPECT_EQ(seen.at("failures"), 2);
  EXPECT_TRUE(seen.at("first_byte_ms").is_null());
  EXPECT_TRUE(seen.at("learned").at("cost_ns").is_null());
}

TEST_F(AdminTest, ClustersShowWhatWasLearned) {
  endpoint->cost.learn(router::Clock::now(), 1000);
  endpoint->first_byte_ms = 12.5;
  const json seen = json::parse(ask("GET", "/clusters").body).at("clusters").at(0).at("endpoints").at(0);
  EXPECT_EQ(seen.at("first_byte_ms"), 12.5);
  EXPECT_NEAR(seen.at("learned").at("cost_ns").get<double>(), 1000, 1);
}

TEST_F(AdminTest, RoutesShowMatchTargetAndCount) {
  const auto reply = ask("GET", "/routes");
  const json routes = json::parse(reply.body).at("routes");
  EXPECT_EQ(routes.at(0).at("name"), "chat");
  EXPECT_EQ(routes.at(0).at("match").at("path"), "/v1/chat/completions");
  EXPECT_EQ(routes.at(0).at("clusters").at(0).at("name"), "gpu");
  EXPECT_EQ(routes.at(0).at("requests"), 42);
  EXPECT_TRUE(routes.at(0).at("respond").is_null());
  EXPECT_EQ(routes.at(1).at("respond"), 204);
  EXPECT_THAT(reply.body, HasSubstr("x-tier"));
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("hidden-value")));
}

TEST_F(AdminTest, ReloadSaysWhatIsWrong) {
  EXPECT_EQ(ask("POST", "/reload").status, 200U);
  outcome = {false, {"a.yaml:3:1: no such key"}};
  const auto refused = ask("POST", "/reload");
  EXPECT_EQ(refused.status, 422U);
  EXPECT_EQ(json::parse(refused.body).at("problems").at(0), "a.yaml:3:1: no such key");
  EXPECT_EQ(reloads, 2);
}

TEST_F(AdminTest, DrainBegins) {
  EXPECT_EQ(ask("POST", "/drain").status, 202U);
  EXPECT_EQ(drains, 1);
}

TEST_F(AdminTest, TheCacheShowsItsNumbers) {
  cache_view.numbers.memory.entries = 2;
  cache_view.numbers.budget = 1024;
  cache_view.numbers.flights = 5;
  cache_view.requests[static_cast<std::size_t>(http::CacheResult::hit)] = 6;
  cache_view.requests[static_cast<std::size_t>(http::CacheResult::miss)] = 2;
  cache_view.requests[static_cast<std::size_t>(http::CacheResult::bypass)] = 90;
  const json seen = json::parse(ask("GET", "/cache").body);
  EXPECT_EQ(seen.at("memory").at("entries"), 2);
  EXPECT_EQ(seen.at("memory").at("budget"), 1024);
  EXPECT_EQ(seen.at("flights").at("count"), 5);
  EXPECT_EQ(seen.at("requests").at("bypass"), 90);
  EXPECT_FALSE(seen.at("requests").contains("none"));
  EXPECT_DOUBLE_EQ(seen.at("hit_ratio").get<double>(), 0.75);
  EXPECT_TRUE(seen.at("redis").is_null());
}

TEST_F(AdminTest, WithoutRequestsThereIsNoHitRatio) {
  EXPECT_TRUE(json::parse(ask("GET", "/cache").body).at("hit_ratio").is_null());
}

TEST_F(AdminTest, TheCacheShowsRedisWithoutItsPassword) {
  config->cache.redis.emplace().url = "redis://brink:hidden-pw@cache.internal:6379/0";
  cache_view.redis_hits = 7;
  const auto reply = ask("GET", "/cache");
  const json redis = json::parse(reply.body).at("redis");
  EXPECT_EQ(redis.at("url"), "redis://brink:***@cache.internal:6379/0");
  EXPECT_EQ(redis.at("mode"), "single");
  EXPECT_EQ(redis.at("in_use"), false);
  EXPECT_EQ(redis.at("hits"), 7);
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("hidden-pw")));
}

TEST_F(AdminTest, APurgeSaysHowManyWentAndHow) {
  const auto reply = purge(R"({"tag": "news"})");
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(json::parse(reply.body), json::parse(R"({"purged": 3, "soft": false})"));
  EXPECT_EQ(json::parse(purge(R"({"all": true, "soft": true})").body).at("soft"), true);
  ASSERT_EQ(purges.size(), 2U);
  EXPECT_EQ(purges[0], (std::pair{cache::Purge{cache::Purge::Kind::tag, "news"}, false}));
  EXPECT_EQ(purges[1], (std::pair{cache::Purge{cache::Purge::Kind::all, ""}, true}));
}

TEST_F(AdminTest, ABadPurgeChangesNothing) {
  const auto reply = purge(R"({"tags": "news"})");
  EXPECT_EQ(reply.status, 400U);
  EXPECT_THAT(json::parse(reply.body).at("error").get<std::string>(), HasSubstr("`tags`"));
  EXPECT_EQ(purge("").status, 400U);
  EXPECT_TRUE(purges.empty());
}

TEST_F(AdminTest, OnlyAPurgeThatMayPassReadsABody) {
  EXPECT_TRUE(takes_body("POST", "/cache/purge"));
  EXPECT_FALSE(takes_body("GET", "/cache/purge"));
  EXPECT_FALSE(takes_body("POST", "/reload"));
  EXPECT_FALSE(takes_body("POST", "/nothing"));
  EXPECT_FALSE(takes_body("POST", "/cache/purge", "Origin: https://evil.test\r\n"));
}

TEST_F(AdminTest, APageOfAnotherHostCannotPurge) {
  EXPECT_EQ(purge(R"({"all": true})", "Origin: https://evil.test\r\n").status, 403U);
  EXPECT_EQ(ask("POST", "/cache/purge", "evil.test", "", R"({"all": true})").status, 403U);
  EXPECT_TRUE(purges.empty());
  EXPECT_EQ(purge(R"({"all": true})", "Origin: http://localhost:9901\r\n").status, 200U);
}

TEST_F(AdminTest, ThePageNeedsNothingFromElsewhere) {
  const auto reply = ask("GET", "/");
  EXPECT_THAT(header(reply, "content-type"), HasSubstr("text/html"));
  EXPECT_THAT(header(reply, "content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("http://")));
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("https://")));
}

TEST_F(AdminTest, HeadAnswersAsGet) {
  for (const char* path : {"/", "/healthz", "/metrics", "/config", "/routes", "/cache"}) {
    const auto head = ask("HEAD", path), get = ask("GET", path);
    EXPECT_EQ(head.status, 200U) << path;
    EXPECT_EQ(head.body, get.body) << path;
  }
}

TEST_F(AdminTest, AWrongMethodNamesTheRightOne) {
  const auto post = ask("POST", "/metrics");
  EXPECT_EQ(post.status, 405U);
  EXPECT_EQ(header(post, "allow"), "GET, HEAD");
  EXPECT_EQ(header(ask("GET", "/reload"), "allow"), "POST");
  EXPECT_EQ(ask("HEAD", "/drain").status, 405U);
  EXPECT_EQ(header(ask("GET", "/cache/purge"), "allow"), "POST");
  EXPECT_EQ(reloads + drains, 0);
}

TEST_F(AdminTest, AnUnknownPathListsThePaths) {
  const auto reply = ask("GET", "/nothing");
  EXPECT_EQ(reply.status, 404U);
  EXPECT_THAT(json::parse(reply.body).at("paths"), ::testing::Contains("POST /reload"));
}

TEST_F(AdminTest, AQueryDoesNotChangeThePath) { EXPECT_EQ(ask("GET", "/healthz?x=1").status, 200U); }

TEST_F(AdminTest, OnLoopbackANameFromOutsideIsRefused) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:9901", "[::1]:9901", "localhost:9901", "LOCALHOST", "10.1.2.3"}) {
    EXPECT_EQ(ask("GET", "/clusters", host).status, 200U) << host;
  }
  for (const char* host : {"evil.test", "evil.test:9901", "localhost.evil.test", "127.0.0.1.evil.test"}) {
    const auto reply = ask("GET", "/clusters", host);
    EXPECT_EQ(reply.status, 403U) << host;
    EXPECT_THAT(reply.body, HasSubstr("Host"));
  }
}

TEST_F(AdminTest, OnOtherAddressesAnyNameIsGood) {
  config->admin.host = "0.0.0.0";
  EXPECT_EQ(ask("GET", "/clusters", "brink.internal").status, 200U);
}

TEST_F(AdminTest, APageOfAnotherHostCannotPost) {
  EXPECT_EQ(ask("POST", "/reload", "localhost:9901", "Origin: http://localhost:9901\r\n").status, 200U);
  for (const char* origin : {"https://evil.test", "null", "http://localhost:80", "http://localhost"}) {
    EXPECT_EQ(ask("POST", "/reload", "localhost:9901", std::string("Origin: ") + origin + "\r\n").status, 403U)
        << origin;
  }
  EXPECT_EQ(reloads, 1);
}

}  // namespace
}  // namespace brink::admin
