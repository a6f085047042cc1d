#include "router/route_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "router/wildcard.hpp"

namespace brink::router {
namespace {

using Headers = std::map<std::string, std::string, std::less<>>;

struct Wanted {
  std::vector<std::string> hosts{};
  std::string path{};
  std::string path_prefix{};
  std::vector<std::string> methods{};
  conf::HeaderList headers{};
  std::vector<std::string> models{};
};

conf::RouteConfig route(std::string name, Wanted wanted) {
  conf::RouteConfig made;
  made.name = std::move(name);
  made.match = {wanted.hosts, wanted.path, wanted.path_prefix, wanted.methods, wanted.headers, wanted.models};
  return made;
}

struct Asked {
  std::string host = "api.example.com";
  std::string path = "/";
  std::string method = "GET";
  Headers headers{};
  std::optional<std::string> model{};  // known, if set
  RequestView::Model model_state = RequestView::Model::unknown;
};

RequestView view(const Asked& asked) {
  RequestView request{asked.host, asked.path, asked.method, &asked.headers, nullptr, asked.model_state, {}};
  request.find_field = [](const void* head, std::string_view name) -> std::optional<std::string_view> {
    const auto& headers = *static_cast<const Headers*>(head);
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
  if (asked.model) {
    request.model_state = RequestView::Model::known;
    request.model = *asked.model;
  }
  return request;
}

class Routes {
 public:
  explicit Routes(std::vector<conf::RouteConfig> routes) { config_.routes = std::move(routes); }
  Match match(const Asked& asked) const { return RouteTable(config_).match(view(asked)); }
  std::vector<std::string> explain(const Asked& asked) const { return RouteTable(config_).explain(view(asked)); }
  // The name of the route that takes it, "name?" when it asks for the model, or the status of the refusal.
  std::string taken(const Asked& asked) const {
    const Match found = match(asked);
    switch (found.kind) {
      case Match::Kind::route:
        EXPECT_EQ(found.route, &config_.routes[found.route_index]);
        return found.route->name;
      case Match::Kind::needs_model:
        return found.route->name + "?";
      case Match::Kind::not_found:
        return "404";
      case Match::Kind::method_not_allowed:
        return "405 " + found.allow;
    }
    return {};
  }

 private:
  conf::Config config_;
};

TEST(RouteTable, PrefersTheMoreSpecificHost) {
  const Routes routes({route("any", {}), route("wide", {.hosts = {"*.example.com"}}),
                       route("deep", {.hosts = {"*.eu.example.com"}}), route("exact", {.hosts = {"api.example.com"}})});
  EXPECT_EQ(routes.taken({.host = "api.example.com"}), "exact");
  EXPECT_EQ(routes.taken({.host = "www.example.com"}), "wide");
  EXPECT_EQ(routes.taken({.host = "a.b.example.com"}), "wide");
  EXPECT_EQ(routes.taken({.host = "api.eu.example.com"}), "deep");
  EXPECT_EQ(routes.taken({.host = "eu.example.com"}), "wide");
  EXPECT_EQ(routes.taken({.host = "example.com"}), "any");
  EXPECT_EQ(routes.taken({.host = ".example.com"}), "any");
  EXPECT_EQ(routes.taken({.host = ""}), "any");
  EXPECT_EQ(routes.taken({.host = "badexample.com"}), "any");
}

TEST(RouteTable, PrefersHostOverPath) {
  const Routes routes({route("path", {.hosts = {"*.example.com"}, .path = "/v1/chat"}),
                       route("host", {.hosts = {"api.example.com"}, .path_prefix = "/"})});
  EXPECT_EQ(routes.taken({.path = "/v1/chat"}), "host");
}

TEST(RouteTable, FallsBackToALessSpecificHostWhenThePathDiffers) {
  const Routes routes({route("rest", {}), route("chat", {.hosts = {"api.example.com"}, .path = "/chat"})});
  EXPECT_EQ(routes.taken({.path = "/chat"}), "chat");
  EXPECT_EQ(routes.taken({.path = "/other"}), "rest");
}

TEST(RouteTable, PrefersExactPathsThenLongPrefixes) {
  const Routes routes({route("root", {.path_prefix = "/"}), route("v1", {.path_prefix = "/v1"}),
                       route("chat", {.path_prefix = "/v1/chat/"}), route("exact", {.path = "/v1/chat/completions"})});
  EXPECT_EQ(routes.taken({.path = "/v1/chat/completions"}), "exact");
  EXPECT_EQ(routes.taken({.path = "/v1/chat/completions/"}), "chat");
  EXPECT_EQ(routes.taken({.path = "/v1/chat"}), "chat");
  EXPECT_EQ(routes.taken({.path = "/v1/chats"}), "v1");
  EXPECT_EQ(routes.taken({.path = "/v1"}), "v1");
  EXPECT_EQ(routes.taken({.path = "/v1/"}), "v1");
  EXPECT_EQ(routes.taken({.path = "/v1x"}), "root");
  EXPECT_EQ(routes.taken({.path = "/"}), "root");
}

TEST(RouteTable, ComparesPathsExactly) {
  const Routes routes({route("exact", {.path = "/a/b"}), route("below", {.path_prefix = "/c/d"})});
  for (const char* path : {"/A/b", "/a/b/", "/a//b", "/a", "", "a/b", "/c", "/c/", "/c/dx", "/c//d", "*"})
    EXPECT_EQ(routes.taken({.path = path}), "404") << path;
}

TEST(RouteTable, PrefersMethodsThenHeadersThenModelsThenFileOrder) {
  const std::string path = "/x";
  const Routes routes({
      route("plain", {.path = path}),
      route("later", {.path = path}),
      route("model", {.path = path, .models = {"m"}}),
      route("one header", {.path = path, .headers = {{"a", "1"}}}),
      route("two headers", {.path = path, .headers = {{"a", "1"}, {"b", "2"}}}),
      route("method", {.path = path, .methods = {"POST"}}),
  });
  EXPECT_EQ(routes.taken({.path = path, .method = "POST", .headers = {{"a", "1"}, {"b", "2"}}}), "method");
  EXPECT_EQ(routes.taken({.path = path, .headers = {{"a", "1"}, {"b", "2"}}}), "two headers");
  EXPECT_EQ(routes.taken({.path = path, .headers = {{"a", "1"}, {"b", "3"}}}), "one header");
  EXPECT_EQ(routes.taken({.path = path}), "model?");
  EXPECT_EQ(routes.taken({.path = path, .model = "m"}), "model");
  EXPECT_EQ(routes.taken({.path = path, .model = "other"}), "plain");
  EXPECT_EQ(routes.taken({.path = path, .model_state = RequestView::Model::absent}), "plain");
}

TEST(RouteTable, ComparesHeaderValuesAndMethodsExactly) {
  const Routes routes({route("gold", {.methods = {"GET"}, .headers = {{"x-tier", "gold"}}})});
  EXPECT_EQ(routes.taken({.headers = {{"x-tier", "gold"}}}), "gold");
  EXPECT_EQ(routes.taken({.headers = {{"x-tier", "Gold"}}}), "404");
  EXPECT_EQ(routes.taken({}), "404");
  EXPECT_EQ(routes.taken({.method = "HEAD", .headers = {{"x-tier", "gold"}}}), "405 GET");
  EXPECT_EQ(routes.taken({.method = "get", .headers = {{"x-tier", "gold"}}}), "405 GET");
}

TEST(RouteTable, ListsTheMethodsThatWouldDo) {
  const Routes routes({route("a", {.path = "/x", .methods = {"POST", "PUT"}}),
                       route("b", {.path_prefix = "/", .methods = {"GET", "POST"}}),
                       route("c", {.path = "/y", .methods = {"PATCH"}})});
  EXPECT_EQ(routes.taken({.path = "/x", .method = "DELETE"}), "405 POST, PUT, GET");
  EXPECT_EQ(routes.taken({.path = "/z", .method = "DELETE"}), "405 GET, POST");
  EXPECT_EQ(Routes({route("a", {.path = "/x"})}).taken({.path = "/y"}), "404");
}

TEST(RouteTable, IsNotAMethodErrorWhenOnlyAHeaderIsMissing) {
  const Routes routes({route("a", {.path = "/x", .methods = {"POST"}, .headers = {{"k", "v"}}}),
                       route("b", {.path = "/x", .methods = {"PUT"}})});
  EXPECT_EQ(routes.taken({.path = "/x", .method = "POST"}), "404");
}

TEST(RouteTable, AsksForTheModelOnlyWhenItDecides) {
  const Routes routes({route("llama", {.path = "/c", .models = {"llama-3*", "meta/?"}}),
                       route("gold", {.path = "/c", .headers = {{"x-tier", "gold"}}}),
                       route("small", {.path_prefix = "/", .models = {"*"}}), route("rest", {.path_prefix = "/"})});
  EXPECT_EQ(routes.taken({.path = "/c", .headers = {{"x-tier", "gold"}}}), "gold");
  EXPECT_EQ(routes.taken({.path = "/c"}), "llama?");
  EXPECT_EQ(routes.taken({.path = "/c", .model = "llama-3.1-8b"}), "llama");
  EXPECT_EQ(routes.taken({.path = "/c", .model = "meta/x"}), "llama");
  EXPECT_EQ(routes.taken({.path = "/c", .model = "gpt"}), "small");
  EXPECT_EQ(routes.taken({.path = "/c", .model_state = RequestView::Model::absent}), "rest");
  EXPECT_EQ(routes.taken({.path = "/d", .model = ""}), "small");
}

TEST(RouteTable, IsNotFoundWhenNoRouteWantsTheModel) {
  const Routes routes({route("llama", {.path = "/c", .methods = {"POST"}, .models = {"llama-3*"}})});
  EXPECT_EQ(routes.taken({.path = "/c", .method = "POST", .model = "gpt"}), "404");
  EXPECT_EQ(routes.taken({.path = "/c", .method = "GET", .model = "llama-3"}), "405 POST");
}

TEST(RouteTable, TakesARouteWithSeveralHosts) {
  const Routes routes({route("both", {.hosts = {"a.test", "*.b.test"}, .path = "/", .methods = {"GET"}})});
  EXPECT_EQ(routes.taken({.host = "a.test"}), "both");
  EXPECT_EQ(routes.taken({.host = "x.b.test"}), "both");
  EXPECT_EQ(routes.taken({.host = "b.test"}), "404");
  EXPECT_EQ(routes.taken({.host = "a.test", .method = "PUT"}), "405 GET");
}

TEST(RouteTable, ExplainsEachRoute) {
  const Routes routes({
      route("host", {.hosts = {"other.test", "*.else.test"}}),
      route("exact", {.path = "/v2"}),
      route("prefix", {.path_prefix = "/v2"}),
      route("method", {.path = "/v1/c", .methods = {"POST", "PUT"}}),
      route("header", {.path = "/v1/c", .headers = {{"x-tier", "gold"}}}),
      route("model", {.path = "/v1/c", .models = {"llama*"}}),
      route("chat", {.path = "/v1/c"}),
      route("rest", {.path_prefix = "/"}),
  });
  EXPECT_THAT(routes.explain({.path = "/v1/c", .model = "gpt"}),
              testing::ElementsAre(
                  "host: no: host api.example.com is none of other.test, *.else.test",
                  "exact: no: path /v1/c is not /v2", "prefix: no: path /v1/c is not under /v2",
                  "method: no: method GET is none of POST, PUT", "header: no: header x-tier is not \"gold\"",
                  "model: no: model gpt is none of llama*", "chat: taken", "rest: matches, but chat goes first"));
  const auto unknown = routes.explain({.path = "/v1/c"});
  EXPECT_EQ(unknown[5], "model: taken if the body's model is one of llama*");
  EXPECT_EQ(unknown[6], "chat: matches, but model is asked first");
  const auto absent = routes.explain({.path = "/v1/c", .model_state = RequestView::Model::absent});
  EXPECT_EQ(absent[5], "model: no: the body names no model, the route wants llama*");
}

// How well a route matches by the definition, the greatest first; nothing if it does not. Written without the index.
std::optional<std::vector<long>> rank(const Wanted& wanted, const std::string& host, const std::string& path,
                                      const std::string& method) {
  long host_rank = wanted.hosts.empty() ? 0 : -1;
  for (const std::string& pattern : wanted.hosts) {
    if (pattern == host) host_rank = 1000;
    if (pattern[0] == '*' && host.size() >= pattern.size() && host.ends_with(pattern.substr(1)))
      host_rank = std::max(host_rank, static_cast<long>(pattern.size()));
  }
  std::string prefix = wanted.path_prefix;
  if (prefix.ends_with('/')) prefix.pop_back();
  const bool below = (path + "/").starts_with(prefix + "/") || prefix.empty();
  const long path_rank =
      wanted.path.empty() ? (below ? static_cast<long>(prefix.size()) : -1) : (wanted.path == path ? 1000 : -1);
  const bool method_fits = wanted.methods.empty() || wanted.methods[0] == method;
  if (host_rank < 0 || path_rank < 0 || !method_fits) return std::nullopt;
  return std::vector<long>{host_rank, path_rank, wanted.methods.empty() ? 0 : 1};
}

TEST(RouteTable, AgreesWithTheDefinitionOnRandomTables) {
  std::mt19937_64 random(5);
  const std::vector<std::string> hosts{"a.x.test", "*.x.test", "*.test", "b.test"};
  const std::vector<std::string> paths{"/", "/v1", "/v1/", "/v1/chat", "/v1/chat/x", "/v2"};
  int found = 0;
  for (int table = 0; table < 300; ++table) {
    std::vector<Wanted> wanted(8);
    std::vector<conf::RouteConfig> list;
    for (Wanted& one : wanted) {
      for (auto count = random() % 3; count > 0; --count) one.hosts.push_back(hosts[random() % 4]);
      if (random() % 3 != 0) (random() % 2 ? one.path : one.path_prefix) = paths[random() % 6];
      if (random() % 3 == 0) one.methods.push_back(random() % 2 ? "GET" : "POST");
      list.push_back(route("r" + std::to_string(list.size()), one));
    }
    const Routes routes(list);
    for (const std::string host : {"a.x.test", "c.x.test", "b.test", "test"})
      for (const std::string path : {"/", "/v1", "/v1/chat", "/v1/chat/x", "/v1x"}) {
        std::optional<std::vector<long>> best;
        std::string expected;
        for (std::size_t i = 0; i < wanted.size(); ++i)
          if (const auto one = rank(wanted[i], host, path, "GET"); one && (!best || *one > *best)) {
            best = one;
            expected = list[i].name;
          }
        const Match match = routes.match({.host = host, .path = path});
        ASSERT_EQ(match.route ? match.route->name : "", expected) << host << path;
        found += match.route != nullptr;
      }
  }
  EXPECT_GT(found, 1000);
}

TEST(RouteTable, IsNotSlowedByHostileHostsAndPaths) {
  const Routes routes({route("wide", {.hosts = {"*.example.com"}, .path_prefix = "/v1/chat"})});
  std::string host;
  while (host.size() < 30'000) host += "a.";
  EXPECT_EQ(routes.taken({.host = host + "example.com", .path = "/v1/chat" + std::string(30'000, '/')}), "wide");
  EXPECT_EQ(routes.taken({.host = host, .path = std::string(30'000, '/')}), "404");
}

TEST(Wildcard, MatchesLikeAShell) {
  for (const auto& [pattern, text] : std::vector<std::pair<std::string, std::string>>{{"*", ""},
                                                                                      {"*", "a/b"},
                                                                                      {"a*", "a"},
                                                                                      {"a*c", "abcbc"},
                                                                                      {"?", "x"},
                                                                                      {"a?c*", "abcd"},
                                                                                      {"**a", "ba"},
                                                                                      {"", ""},
                                                                                      {"*-8b-*", "llama-8b-8b-awq"},
                                                                                      {"[a]", "[a]"}})
    EXPECT_TRUE(matches_wildcard(pattern, text)) << pattern << " " << text;
  for (const auto& [pattern, text] : std::vector<std::pair<std::string, std::string>>{
           {"", "a"}, {"?", ""}, {"a*c", "abcd"}, {"a", "A"}, {"*b", "ba"}, {"a?", "a"}, {"a", "ab"}, {"[a]", "a"}})
    EXPECT_FALSE(matches_wildcard(pattern, text)) << pattern << " " << text;
  EXPECT_FALSE(matches_wildcard("*a*a*a*a*a*a*a*b", std::string(256, 'a')));
}

}  // namespace
}  // namespace brink::router
