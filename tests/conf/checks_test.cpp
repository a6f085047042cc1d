// What values mean together, within a block and across files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Checks, KeysOfLaterReleasesAreNamedAsSuch) {
  EXPECT_THAT(
      problems_of("listeners: [{address: 127.0.0.1:0, tls: {}}]\n"
                  "clusters:\n"
                  "  c: {balance: prefix_affinity, metrics: {},\n"
                  "      endpoints: [{url: \"https://h\"}]}\n"
                  "routes: [{name: a, cluster: c}]\n"),
      ElementsAre(HasSubstr(":1:36: `tls`: this version"), HasSubstr(":3:16: `balance`: `prefix_affinity` is not"),
                  HasSubstr(":3:33: `metrics`: this version"),
                  HasSubstr(":4:25: `url`: `https://h` needs TLS to a backend, which this version")));
}

TEST(Checks, DuplicateKeysNamesAndAddresses) {
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:80}, {address: 127.0.0.1:80}, {address: 127.0.0.1:9901}]\n"
                          "clusters:\n"
                          "  a: {endpoints: [{url: \"http://h\"}, {url: \"http://h:80\"}]}\n"
                          "  a: {}\n"
                          "routes:\n"
                          "  - {name: x, match: {path: /1}, cluster: a, cluster: a}\n"
                          "  - {name: x, match: {path: /2, headers: {A: 1, a: 2}}, cluster: a}\n"),
              ElementsAre(HasSubstr(":1:38: this address is taken by the listener at"),
                          HasSubstr(":1:63: this address is the admin API's"),
                          HasSubstr(":3:38: the endpoint `http://h:80` stands in this cluster already, at line 3"),
                          HasSubstr(":4:3: duplicate key `a` in `clusters`"),
                          HasSubstr(":6:46: duplicate key `cluster`; it stands at line 6"),
                          HasSubstr(":7:5: duplicate route `x`; it stands at brink.yaml:6"),
                          HasSubstr(":7:49: `headers`: the header `a` stands here twice")));
}

TEST(Checks, ARouteHasExactlyOneAction) {
  EXPECT_THAT(problems_of(minimal + "    respond: {status: 200}\n"),
              ElementsAre(HasSubstr(":6:5: a route takes only one of `cluster`, `split`, `respond`")));
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:0}]\nroutes: [{name: a}]\n"),
              ElementsAre(HasSubstr(":2:10: a route needs one of `cluster`, `split`, `respond`")));
}

TEST(Checks, SplitsMustSendTrafficSomewhereOnce) {
  const std::string head = "listeners: [{address: 127.0.0.1:0}]\nclusters: {c: {endpoints: [{url: \"http://h\"}]}}\n";
  EXPECT_THAT(problems_of(head + "routes: [{name: a, split: [{cluster: c, weight: 0}]}]\n"),
              ElementsAre(HasSubstr(":3:27: every weight of `split` is 0")));
  EXPECT_THAT(problems_of(head + "routes: [{name: a, split: [{cluster: c}, {cluster: c}]}]\n"),
              ElementsAre(HasSubstr(":3:27: `split` names the cluster `c` twice")));
  EXPECT_THAT(problems_of(head + "routes: [{name: a, split: []}]\n"),
              ElementsAre(HasSubstr(":3:27: `split` is empty; give it at least one entry")));
  EXPECT_THAT(problems_of(head + "routes: [{name: a, split: [{cluster: c, weight: 1000001}]}]\n"),
              ElementsAre(HasSubstr(":3:49: `weight`: `1000001` is out of range; write 0 to 1000000")));
}

TEST(Checks, ContradictionsOfARoute) {
  EXPECT_THAT(problems_of(minimal + "    rewrite: {path: /a, path_prefix: /b}\n"),
              ElementsAre(HasSubstr(":9:14: rewrite takes only one of `path`, `path_prefix`")));
  EXPECT_THAT(
      problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                  "routes:\n"
                  "  - {name: a, match: {path: x, path_prefix: /b}, respond: {status: 204, body: x}}\n"
                  "  - {name: b, match: {path: /c}, respond: {}, timeouts: {idle: 1s}, rewrite: {path_prefix: /}}\n"),
      ElementsAre(HasSubstr(":3:22: match takes only one of `path`, `path_prefix`"),
                  HasSubstr(":3:29: `path`: `x` must start with `/`"),
                  HasSubstr(":3:79: a reply with status 204 has no `body`"),
                  HasSubstr(":4:57: `timeouts` has no effect beside `respond`"),
                  HasSubstr(":4:78: `rewrite.path_prefix` replaces what `match.path_prefix` matched"),
                  HasSubstr(":4:78: `rewrite` has no effect beside `respond`")));
}

TEST(Checks, ATimeoutPastTheTotalIsAMistakeOnlyWhereItIsWritten) {
  EXPECT_THAT(problems_of(minimal + "    timeouts: {idle: 20m}\n"),
              ElementsAre(HasSubstr(":9:22: `idle` (20m) is longer than `total` (10m), so it could never expire")));
  const LoadResult result = load_text(minimal + "    timeouts: {total: 5s}\n");
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  EXPECT_EQ(result.config->routes.at(0).timeouts.idle, std::chrono::seconds(5));
  EXPECT_EQ(result.config->routes.at(0).timeouts.connect, std::chrono::seconds(1));
}

TEST(Checks, HealthChecksMustBePossible) {
  EXPECT_THAT(
      problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                  "clusters:\n"
                  "  c:\n"
                  "    endpoints: [{url: \"http://h\"}]\n"
                  "    health_check: {path: health, interval: 1s, timeout: 2s, unhealthy_after: 0, healthy_after: 0}\n"
                  "routes: [{name: a, cluster: c}]\n"),
      ElementsAre(HasSubstr(":5:26: `path`: `health` must start with `/`"),
                  HasSubstr(":5:57: `timeout` (2s) is longer than `interval` (1s)"),
                  HasSubstr(":5:78: `unhealthy_after`: `0` is out of range"),
                  HasSubstr(":5:96: `healthy_after`: `0` is out of range")));
}

TEST(Checks, NoRouteEditsWhatFramesAMessage) {
  for (const std::string name : {"Connection", "transfer-encoding", "Content-Length", "keep-alive", "te", "trailer",
                                 "upgrade", "proxy-connection", "expect"}) {
    EXPECT_THAT(problems_of(minimal + "    rewrite: {set_headers: {" + name + ": a}}\n"),
                ElementsAre(HasSubstr(":9:29: `set_headers`: the header `" + name + "` frames the message")));
    EXPECT_THAT(problems_of(minimal + "    rewrite: {remove_response_headers: [" + name + "]}\n"),
                ElementsAre(HasSubstr("`remove_response_headers`: `" + name + "` frames the message")));
  }
  EXPECT_THAT(problems_of(minimal + "    rewrite: {set_headers: {Host: a}}\n"),
              ElementsAre(HasSubstr("set `rewrite.host`")));
}

TEST(Checks, HeadersAreWellFormedAndTheirValuesNeverQuoted) {
  const auto problems = problems_of(minimal +
                                    "    rewrite: {set_headers: {a: \"secret\\r\\nb: c\", \"a b\": secret, c: [1]},\n"
                                    "              remove_headers: [X, x], set_response_headers: {y: 1},\n"
                                    "              remove_response_headers: [Y]}\n");
  EXPECT_THAT(problems,
              ElementsAre(HasSubstr(":9:32: `set_headers`: the header `a` has a value that holds a line end"),
                          HasSubstr(":9:50: `set_headers`: the header `a b` is no valid header name"),
                          HasSubstr(":9:68: `set_headers`: the header `c` must have a single value"),
                          HasSubstr(":11:40: `remove_response_headers` names a header that this route also sets")));
  for (const std::string& line : problems) EXPECT_THAT(line, testing::Not(HasSubstr("secret")));
}

TEST(Checks, WrongShapesSayWhatIsWanted) {
  EXPECT_THAT(
      problems_of("listeners: {address: 127.0.0.1:0}\n"
                  "node: 5\n"
                  "admin:\n"
                  "access_log: no\n"
                  "clusters: [a]\n"
                  "routes:\n"
                  "  - name: [a]\n"
                  "    match: {hosts: [[a]], headers: []}\n"
                  "    respond: {}\n"
                  "  -\n"),
      ElementsAre(HasSubstr(":1:12: `listeners` must be a list"), HasSubstr(":2:7: `node` must be a mapping"),
                  HasSubstr(":3:1: `admin` has no value"),
                  HasSubstr(":4:13: `access_log` must be a mapping of keys to values or `off`"),
                  HasSubstr(":5:11: `clusters` must be a mapping"), HasSubstr(":7:3: `routes`: entry 2 has no value"),
                  HasSubstr(":7:11: `name` must be a single value"), HasSubstr(":8:21: `hosts` must hold plain texts"),
                  HasSubstr(":8:36: `headers` must be a mapping of header names")));
}

TEST(Checks, RoutesThatNeverMatch) {
  const std::string head = "listeners: [{address: 127.0.0.1:0}]\nroutes:\n";
  auto with = [&](const std::string& first, const std::string& second) {
    return problems_of(head + "  - {name: a, match: {" + first + "}, respond: {}}\n  - {name: b, match: {" + second +
                       "}, respond: {}}\n");
  };
  const auto never = ElementsAre(
      "brink.yaml:4:5: the route `b` can never match: the route `a` at brink.yaml:3 takes the same requests before it");
  EXPECT_THAT(with("path: /x", "path: /x"), never);
  EXPECT_THAT(with("", "path_prefix: /"), never);
  EXPECT_THAT(with("path_prefix: /v1", "path_prefix: /v1/"), never);
  EXPECT_THAT(with("methods: [GET, POST]", "methods: [POST]"), never);
  EXPECT_THAT(with("models: [\"*\"]", "models: [a]"), never);
  EXPECT_THAT(with("headers: {a: 1, b: 2}", "headers: {B: 2, A: 1}"), never);
  EXPECT_THAT(with("hosts: [a.b, c.d]", "hosts: [C.D]"), never);
  EXPECT_THAT(with("hosts: [a.b]", "hosts: [a.b, c.d]"),
              ElementsAre(HasSubstr("the route `b` can never match for one of its hosts")));

  EXPECT_THAT(with("path_prefix: /x", "path: /x"), IsEmpty());           // exact wins whatever the order
  EXPECT_THAT(with("path_prefix: /", "path_prefix: /v1"), IsEmpty());    // longer wins
  EXPECT_THAT(with("path: /x", "path: /x, methods: [GET]"), IsEmpty());  // a method wins
  EXPECT_THAT(with("methods: [GET]", "methods: [GET, POST]"), IsEmpty());
  EXPECT_THAT(with("headers: {a: 1}", "headers: {a: 1, b: 2}"), IsEmpty());
  EXPECT_THAT(with("models: [a]", "models: [b]"), IsEmpty());
  EXPECT_THAT(with("path: /x", "hosts: [a.b], path: /x"), IsEmpty());
}

TEST(Checks, ABrokenMatchIsNotAlsoCalledUnreachable) {
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                          "routes:\n"
                          "  - {name: a, respond: {}}\n"
                          "  - {name: b, match: {path: x}, respond: {}}\n"),
              ElementsAre(HasSubstr(":4:29: `path`: `x` must start with `/`")));
}

}  // namespace
}  // namespace brink::conf
