// The way in: a file becomes a tree, or a list of located problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

TEST(Load, FiveDifferentMistakesGiveFiveLocatedMessages) {
  EXPECT_THAT(problems_of("listeners:\n"
                          "  - address: 127.0.0.1:99999\n"
                          "clusters:\n"
                          "  chat:\n"
                          "    ballance: score\n"
                          "    endpoints: [{url: \"http://127.0.0.1:9101\"}]\n"
                          "routes:\n"
                          "  - name: chat\n"
                          "    match: {methods: GET}\n"
                          "    cluster: caht\n"
                          "    timeouts: {idle: 30}\n"),
              ElementsAre("brink.yaml:2:14: `address`: `127.0.0.1:99999` has no valid port; ports are 0 to 65535",
                          "brink.yaml:5:5: unknown key `ballance`; did you mean `balance`? valid here: balance, "
                          "endpoints, health_check, limits, keep_alive, "
                          "outlier, panic_threshold, queue, fallback",
                          "brink.yaml:9:22: `methods` must be a list, like `[a, b]`",
                          "brink.yaml:10:14: there is no cluster `caht`; did you mean `chat`?",
                          "brink.yaml:11:22: `idle`: `30` has no unit; write it with ms, s, m or h, like `250ms` or "
                          "`30s` (1ms to 24h)"));
}

TEST(Load, AMinimalFileGetsTheDefaultsOfTheStructs) {
  const LoadResult result = load_text(minimal);
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  const Config& config = *result.config;
  EXPECT_FALSE(config.node.id.empty());
  EXPECT_EQ(config.node.workers, 0u);
  EXPECT_EQ(config.node.drain_timeout, NodeConfig{}.drain_timeout);
  EXPECT_EQ(config.admin.port, AdminConfig{}.port);
  EXPECT_EQ(config.admin.host, AdminConfig{}.host);
  EXPECT_EQ(config.downstream.limits.head, DownstreamConfig::Limits{}.head);
  EXPECT_EQ(config.downstream.limits.fields, DownstreamConfig::Limits{}.fields);
  EXPECT_EQ(config.downstream.limits.target, DownstreamConfig::Limits{}.target);
  EXPECT_EQ(config.downstream.limits.connections, DownstreamConfig::Limits{}.connections);
  EXPECT_EQ(config.downstream.timeouts.head, DownstreamConfig::Timeouts{}.head);
  EXPECT_EQ(config.downstream.timeouts.body, DownstreamConfig::Timeouts{}.body);
  EXPECT_EQ(config.downstream.timeouts.keep_alive, DownstreamConfig::Timeouts{}.keep_alive);
  EXPECT_EQ(config.downstream.timeouts.write, DownstreamConfig::Timeouts{}.write);
  EXPECT_EQ(config.access_log.file, AccessLogConfig{}.file);
}

TEST(Load, AClusterAndARouteGetTheDefaultsOfTheStructs) {
  const LoadResult result = load_text(minimal);
  ASSERT_TRUE(result.config);
  const ClusterConfig& cluster = result.config->clusters.at(0);
  EXPECT_EQ(cluster.name, "chat");
  EXPECT_EQ(cluster.balance, ClusterConfig{}.balance);
  EXPECT_FALSE(cluster.health_check);
  EXPECT_EQ(cluster.limits.connections, ClusterConfig::Limits{}.connections);
  EXPECT_EQ(cluster.limits.requests, ClusterConfig::Limits{}.requests);
  EXPECT_EQ(cluster.limits.per_endpoint_requests, ClusterConfig::Limits{}.per_endpoint_requests);
  EXPECT_EQ(cluster.keep_alive.idle, ClusterConfig::KeepAlive{}.idle);
  EXPECT_EQ(cluster.keep_alive.connections, ClusterConfig::KeepAlive{}.connections);
  EXPECT_EQ(cluster.endpoints.at(0).weight, EndpointConfig{}.weight);
  EXPECT_EQ(cluster.endpoints.at(0).max_qps, EndpointConfig{}.max_qps);
  const RouteConfig& route = result.config->routes.at(0);
  EXPECT_EQ(route.timeouts.connect, TimeoutsConfig{}.connect);
  EXPECT_EQ(route.timeouts.first_byte, TimeoutsConfig{}.first_byte);
  EXPECT_EQ(route.timeouts.idle, TimeoutsConfig{}.idle);
  EXPECT_EQ(route.timeouts.total, TimeoutsConfig{}.total);
  EXPECT_EQ(route.timeouts.tunnel, TimeoutsConfig{}.tunnel);
  EXPECT_EQ(route.limits.body, RouteConfig::Limits{}.body);
}

TEST(Load, AnEmptyHealthCheckGetsTheDefaultsOfItsStruct) {
  const LoadResult result = load_text(
      "listeners: [{address: 127.0.0.1:0}]\n"
      "clusters: {chat: {endpoints: [{url: \"http://h\"}], health_check: {}}}\n"
      "routes: [{name: a, cluster: chat}]\n");
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  const auto& check = result.config->clusters.at(0).health_check;
  ASSERT_TRUE(check);
  EXPECT_EQ(check->path, HealthCheckConfig{}.path);
  EXPECT_EQ(check->interval, HealthCheckConfig{}.interval);
  EXPECT_EQ(check->timeout, HealthCheckConfig{}.timeout);
  EXPECT_EQ(check->unhealthy_after, HealthCheckConfig{}.unhealthy_after);
  EXPECT_EQ(check->healthy_after, HealthCheckConfig{}.healthy_after);
}

TEST(Load, EveryKindOfValueReachesItsStruct) {
  const LoadResult result = load_text(
      "node: {id: sin-1, region: asia, workers: 4, drain_timeout: 2m}\n"
      "listeners: [{address: \"[::1]:8080\"}, {address: 0.0.0.0:0}]\n"
      "downstream: {limits: {head: 64KiB}, trusted_proxies: [10.0.0.0/8, 192.0.2.1]}\n"
      "clusters:\n"
      "  chat:\n"
      "    balance: least_requests\n"
      "    endpoints:\n"
      "      - {url: \"http://Backend.Internal:8000/\", weight: 3, max_qps: 600/m}\n"
      "      - {url: \"http://[::1]\"}\n"
      "      - {url: \"unix:///run/x.sock\"}\n"
      "routes:\n"
      "  - name: chat\n"
      "    match: {hosts: [\"*.Example.com\"], path: /v1/chat, methods: [POST, GET], headers: {b: 1, a: two}}\n"
      "    split: [{cluster: chat, weight: 7}]\n"
      "    timeouts: {connect: 250ms, total: 1h}\n"
      "    rewrite: {model: m, set_headers: {X-A: \"\"}, remove_headers: [x-b]}\n"
      "  - name: no\n"
      "    respond: {status: 403, headers: {content-type: text/plain}, body: \"no\\n\"}\n"
      "access_log: off\n");
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  const Config& config = *result.config;
  EXPECT_EQ(config.node.workers, 4u);
  EXPECT_EQ(config.node.drain_timeout, 2min);
  EXPECT_EQ(config.listeners.at(0).host, "::1");
  EXPECT_EQ(config.listeners.at(0).port, 8080);
  EXPECT_EQ(config.downstream.limits.head, 65536u);
  EXPECT_THAT(config.downstream.trusted_proxies, ElementsAre("10.0.0.0/8", "192.0.2.1/32"));
  EXPECT_EQ(config.access_log.file, "off");

  const ClusterConfig& cluster = config.clusters.at(0);
  EXPECT_EQ(cluster.balance, Balance::least_requests);
  EXPECT_EQ(cluster.endpoints.at(0).name(), "backend.internal:8000");
  EXPECT_EQ(cluster.endpoints.at(0).weight, 3u);
  EXPECT_DOUBLE_EQ(cluster.endpoints.at(0).max_qps, 10.0);
  EXPECT_EQ(cluster.endpoints.at(0).where.line, 8);
  EXPECT_EQ(cluster.endpoints.at(1).name(), "[::1]:80");
  EXPECT_EQ(cluster.endpoints.at(2).name(), "unix:/run/x.sock");
  EXPECT_EQ(cluster.where.line, 5);

  const RouteConfig& chat = config.routes.at(0);
  EXPECT_THAT(chat.match.hosts, ElementsAre("*.example.com"));
  EXPECT_THAT(chat.match.headers, ElementsAre(std::pair("b", "1"), std::pair("a", "two")));
  EXPECT_EQ(chat.clusters.at(0).cluster, "chat");
  EXPECT_EQ(chat.clusters.at(0).weight, 7u);
  EXPECT_EQ(chat.timeouts.connect, 250ms);
  EXPECT_EQ(chat.timeouts.total, 1h);
  EXPECT_EQ(chat.rewrite.model, "m");
  EXPECT_FALSE(chat.rewrite.path);
  EXPECT_THAT(chat.rewrite.set_headers, ElementsAre(std::pair("X-A", "")));
  EXPECT_THAT(chat.rewrite.remove_headers, ElementsAre("x-b"));
  ASSERT_TRUE(config.routes.at(1).respond);
  EXPECT_EQ(config.routes.at(1).respond->status, 403u);
  EXPECT_EQ(config.routes.at(1).respond->body, "no\n");
  EXPECT_THAT(config.routes.at(1).clusters, IsEmpty());
}

TEST(Load, YamlSyntaxErrorsAreLocated) {
  EXPECT_THAT(problems_of("listeners: []\nroutes:\n\t- name: a\n"),
              ElementsAre(HasSubstr("brink.yaml:3:2: YAML syntax: ")));
  EXPECT_THAT(problems_of("a: 1\n---\nb: 2\n"),
              testing::Contains("brink.yaml:3:1: a file holds one YAML document; use a file for each"));
}

TEST(Load, WhatIsMissingAltogetherIsReportedAtTheFirstFile) {
  EXPECT_THAT(problems_of("# nothing\n"),
              ElementsAre(HasSubstr("brink.yaml:1:1: no listener; add "), HasSubstr("brink.yaml:1:1: no route; add ")));
  EXPECT_EQ(conf::load({}).problems.at(0).message, "no configuration file; name one with -c FILE");
}

TEST(Load, ABrokenFileDoesNotMakeItsContentsMissing) {
  Files files;
  files.write("clusters.yaml", "clusters: {chat: [}\n");
  files.write("brink.yaml", "routes: [{name: a, cluster: chat}]\ninclude: [clusters.yaml]\n");
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre(HasSubstr("clusters.yaml:1:19: YAML syntax: ")));
}

TEST(Load, ATreeOfAliasesStopsAtABound) {
  std::string text = "listeners: [{address: 127.0.0.1:0}]\nclusters:\n  c0: &c\n    endpoints:\n";
  for (int i = 1; i <= 900; ++i) text += "      - {url: \"http://h:" + std::to_string(i) + "\"}\n";
  for (int i = 1; i < 200; ++i) text += "  c" + std::to_string(i) + ": *c\n";
  text += "routes: [{name: a, cluster: c0}]\n";
  EXPECT_THAT(problems_of(text), testing::Contains(HasSubstr("the configuration is too large")));
}

}  // namespace
}  // namespace brink::conf
