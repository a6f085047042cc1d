// The keys of failure handling and of the local model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conf/units.hpp"
#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::shared_ptr<const Config> loaded(const std::string& text) {
  const LoadResult result = load_text(text);
  if (!result.config) ADD_FAILURE() << text << to_string(result.problems.front());
  return result.config ? result.config : std::make_shared<const Config>();
}

// A configuration whose cluster `chat` has these keys too.
std::string with_cluster(const std::string& keys) {
  std::string text = minimal;
  text.insert(text.find("routes:"), "    " + keys + "\n");
  return text;
}

TEST(FailureKeys, WhereAFallbackAnswersThereIsNoPanicUnlessAskedFor) {
  const auto panic = [](std::string_view more) {
    return loaded(
               "listeners: [{address: 127.0.0.1:0}]\n"
               "clusters:\n"
               "  a: {endpoints: [{url: \"http://127.0.0.1:1\"}], fallback: b" +
               std::string(more) +
               "}\n"
               "  b: {endpoints: [{url: \"http://127.0.0.1:2\"}]}\n"
               "routes: [{name: r, cluster: a}]\n")
        ->clusters.at(0)
        .panic_threshold;
  };
  EXPECT_EQ(panic(""), 0);
  EXPECT_EQ(panic(", panic_threshold: 30%"), 0.3);
}

TEST(FailureKeys, WithoutThemTheDefaultsAreThoseOfTheStructs) {
  const auto config = loaded(minimal);
  const ClusterConfig& cluster = config->clusters.at(0);
  const OutlierConfig least;
  EXPECT_EQ(cluster.outlier.consecutive_failures, least.consecutive_failures);
  EXPECT_EQ(cluster.outlier.failure_share, least.failure_share);
  EXPECT_EQ(cluster.outlier.min_requests, least.min_requests);
  EXPECT_EQ(cluster.outlier.window, least.window);
  EXPECT_EQ(cluster.outlier.slow_factor, least.slow_factor);
  EXPECT_EQ(cluster.outlier.eject_for, least.eject_for);
  EXPECT_EQ(cluster.outlier.max_eject_for, least.max_eject_for);
  EXPECT_EQ(cluster.outlier.max_ejected, least.max_ejected);
  EXPECT_EQ(cluster.outlier.slow_start, least.slow_start);
  EXPECT_EQ(cluster.panic_threshold, ClusterConfig{}.panic_threshold);
  EXPECT_EQ(cluster.queue.size, QueueConfig{}.size);
  EXPECT_EQ(cluster.queue.timeout, QueueConfig{}.timeout);
  EXPECT_EQ(cluster.fallback, "");
  const RouteConfig& route = config->routes.at(0);
  const RetryConfig retry;
  EXPECT_EQ(route.retry.attempts, retry.attempts);
  EXPECT_EQ(route.retry.on, retry.on);
  EXPECT_EQ(route.retry.budget, retry.budget);
  EXPECT_EQ(route.retry.non_idempotent, retry.non_idempotent);
  EXPECT_EQ(route.retry.backoff, retry.backoff);
  EXPECT_EQ(route.retry.max_backoff, retry.max_backoff);
  EXPECT_FALSE(route.hedge);
  EXPECT_EQ(route.keep_alive_comments, 0ms);
  EXPECT_FALSE(config->local_model);
}

TEST(FailureKeys, EmptyBlocksGetTheDefaultsOfTheirStructs) {
  const auto hedge = loaded(with_route("    hedge: {}\n"))->routes.at(0).hedge;
  ASSERT_TRUE(hedge);
  EXPECT_EQ(hedge->percentile, HedgeConfig{}.percentile);
  EXPECT_EQ(hedge->least, HedgeConfig{}.least);
  EXPECT_EQ(hedge->budget, HedgeConfig{}.budget);
  const auto model = loaded(minimal + "local_model: {url: \"http://127.0.0.1:1\"}\n")->local_model;
  ASSERT_TRUE(model);
  const LocalModelConfig least;
  EXPECT_EQ(model->threads, least.threads);
  EXPECT_EQ(model->parallel, least.parallel);
  EXPECT_EQ(model->context, least.context);
  EXPECT_EQ(model->queue, least.queue);
  EXPECT_EQ(model->nice, least.nice);
  EXPECT_EQ(model->cpus, least.cpus);
  EXPECT_EQ(model->memory, least.memory);
  EXPECT_EQ(model->start_timeout, least.start_timeout);
}

TEST(FailureKeys, EveryValueReachesItsStruct) {
  const auto config =
      loaded(with_cluster(
                 "outlier: {consecutive_failures: 3, failure_share: 25%, min_requests: 7, window: 20s, slow_factor: 4,"
                 " eject_for: 1s, max_eject_for: 9s, max_ejected: 12.5%, slow_start: 0s}\n"
                 "    panic_threshold: 0%\n"
                 "    queue: {size: 10, timeout: 2s}\n"
                 "    fallback: spare\n"
                 "  spare: {endpoints: [{url: \"http://h\"}]}") +
             "    retry: {attempts: 1, on: [timeout, 500], budget: 0%, non_idempotent: false, backoff: 1ms, "
             "max_backoff: 2ms}\n"
             "    hedge: {percentile: 99.5%, least: 1s, budget: 1%}\n"
             "    keep_alive_comments: 15s\n");
  const ClusterConfig& cluster = config->clusters.at(0);
  EXPECT_EQ(cluster.outlier.consecutive_failures, 3u);
  EXPECT_DOUBLE_EQ(cluster.outlier.failure_share, 0.25);
  EXPECT_EQ(cluster.outlier.min_requests, 7u);
  EXPECT_EQ(cluster.outlier.window, 20s);
  EXPECT_EQ(cluster.outlier.slow_factor, 4);
  EXPECT_EQ(cluster.outlier.eject_for, 1s);
  EXPECT_EQ(cluster.outlier.max_eject_for, 9s);
  EXPECT_DOUBLE_EQ(cluster.outlier.max_ejected, 0.125);
  EXPECT_EQ(cluster.outlier.slow_start, 0s);
  EXPECT_EQ(cluster.panic_threshold, 0);
  EXPECT_EQ(cluster.queue.size, 10u);
  EXPECT_EQ(cluster.queue.timeout, 2s);
  EXPECT_EQ(cluster.fallback, "spare");
  const RouteConfig& route = config->routes.at(0);
  EXPECT_EQ(route.retry.attempts, 1u);
  EXPECT_EQ(route.retry.on, RetryConfig::timeout | RetryConfig::s500);
  EXPECT_EQ(route.retry.budget, 0);
  EXPECT_FALSE(route.retry.non_idempotent);
  EXPECT_EQ(route.retry.backoff, 1ms);
  EXPECT_EQ(route.retry.max_backoff, 2ms);
  ASSERT_TRUE(route.hedge);
  EXPECT_DOUBLE_EQ(route.hedge->percentile, 0.995);
  EXPECT_EQ(route.hedge->least, 1s);
  EXPECT_DOUBLE_EQ(route.hedge->budget, 0.01);
  EXPECT_EQ(route.keep_alive_comments, 15s);
}

TEST(FailureKeys, OffIsAWordForBoth) {
  const auto config = loaded(with_cluster("outlier: off") + "    retry: off\n");
  EXPECT_EQ(config->clusters.at(0).outlier.max_ejected, 0);
  EXPECT_EQ(config->routes.at(0).retry.attempts, 0u);
}

TEST(FailureKeys, TimesThatContradictEachOther) {
  EXPECT_THAT(problems_of(with_cluster("outlier: {eject_for: 9s, max_eject_for: 8s, slow_factor: 1}")),
              ElementsAre(HasSubstr(":5:45: `max_eject_for` is shorter than `eject_for`"),
                          HasSubstr(":5:62: `slow_factor` of 1 would take out")));
  EXPECT_EQ(loaded(with_cluster("outlier: {eject_for: 10m}"))->clusters.at(0).outlier.max_eject_for, 10min);
  EXPECT_EQ(loaded(with_cluster("outlier: {max_eject_for: 2s}"))->clusters.at(0).outlier.eject_for, 2s);
  EXPECT_EQ(loaded(with_route("    retry: {backoff: 1s}\n"))->routes.at(0).retry.max_backoff, 1s);
}

TEST(FailureKeys, WrongValues) {
  EXPECT_THAT(
      problems_of(with_cluster("panic_threshold: 50")),
      ElementsAre(HasSubstr(":5:22: `panic_threshold`: `50` is no share; write it in percent, like `20%` (0% to")));
  EXPECT_THAT(problems_of(with_cluster("panic_threshold: 101%")),
              ElementsAre(HasSubstr("is out of range; write 0% to 100%")));
  EXPECT_THAT(problems_of(with_route("    retry: {attempts: 11}\n")), ElementsAre(HasSubstr("write 0 to 10 or `off`")));
  EXPECT_THAT(problems_of(with_route("    retry: {on: [501]}\n")),
              ElementsAre(HasSubstr(":9:18: `on`: `501` is not known")));
  EXPECT_THAT(problems_of(with_route("    retry: {on: [503, 503]}\n")),
              ElementsAre(HasSubstr("stands in this list twice")));
  EXPECT_THAT(problems_of(with_route("    hedge: {percentile: 49%}\n")), ElementsAre(HasSubstr("write 50% to 100%")));
}

TEST(FailureKeys, FallbacksLeadSomewhereAndNotInACircle) {
  const auto clusters = [](const std::string& a, const std::string& b, const std::string& c) {
    const auto one = [](const std::string& name, const std::string& fallback) {
      return "  " + name + ": {endpoints: [{url: \"http://h\"}]" + (fallback.empty() ? "" : ", fallback: " + fallback) +
             "}\n";
    };
    return "listeners: [{address: 127.0.0.1:0}]\nclusters:\n" + one("a", a) + one("b", b) + one("c", c) +
           "routes: [{name: r, cluster: a}]\n";
  };
  EXPECT_THAT(problems_of(clusters("b", "c", "")), IsEmpty());
  EXPECT_THAT(problems_of(clusters("", "", "dd")), ElementsAre(HasSubstr(":5:49: there is no cluster `dd`")));
  EXPECT_THAT(problems_of(clusters("", "b", "")),
              ElementsAre(HasSubstr(":4:49: the fallback of the cluster `b` is itself")));
  EXPECT_THAT(problems_of(clusters("b", "c", "a")), ElementsAre(HasSubstr("`a` leads back to it, by way of `b`"),
                                                                HasSubstr("`b` leads back to it, by way of `c`"),
                                                                HasSubstr("`c` leads back to it, by way of `a`")));
  EXPECT_THAT(problems_of(clusters("b", "c", "b")),
              ElementsAre(HasSubstr("`b` leads back"), HasSubstr("`c` leads back")));
  EXPECT_THAT(problems_of(clusters("local_model", "", "")),
              ElementsAre(HasSubstr(":3:49: `fallback: local_model` needs the block `local_model`")));
  EXPECT_THAT(problems_of(clusters("local_model", "", "") + "local_model: {url: \"http://127.0.0.1:1\"}\n"), IsEmpty());
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                          "clusters: {local_model: {endpoints: [{url: \"http://h\"}]}}\n"
                          "routes: [{name: r, cluster: local_model}]\n"),
              ElementsAre(HasSubstr(":2:12: a cluster cannot be named `local_model`")));
}

TEST(LocalModelKeys, AFileOrAUrl) {
  EXPECT_THAT(problems_of(minimal + "local_model: {}\n"),
              ElementsAre(HasSubstr("local_model needs one of `file`, `url`")));
  EXPECT_THAT(problems_of(minimal + "local_model: {file: x.gguf, url: \"http://h\"}\n"),
              Contains(HasSubstr("local_model takes only one of `file`, `url`")));
  EXPECT_THAT(problems_of(minimal + "local_model: {url: \"http://h\", nice: 3}\n"),
              ElementsAre(HasSubstr(":9:38: `nice` is for `file` only")));
  EXPECT_THAT(
      problems_of(minimal + "local_model: {file: none.gguf, program: none}\n"),
      ElementsAre(HasSubstr(":9:21: `file`: there is no such file"), HasSubstr("`program`: there is no such program")));
}

TEST(LocalModelKeys, EveryValueReachesItsStruct) {
  Files files;
  files.write("m/small.gguf", "GGUF");
  files.write("brink.yaml",
              minimal +
                  "local_model: {file: m/small.gguf, threads: 3, parallel: 5, context: 512, queue: 0, nice: 19,\n"
                  "  cpus: \"0-3,8\", memory: 1GiB, chat_template: chatml, program: /bin/sh, start_timeout: 5s}\n");
  const LoadResult result = files.load("brink.yaml");
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  const LocalModelConfig& model = *result.config->local_model;
  EXPECT_EQ(model.file, files.path("m/small.gguf"));
  EXPECT_EQ(model.threads, 3u);
  EXPECT_EQ(model.parallel, 5u);
  EXPECT_EQ(model.context, 512u);
  EXPECT_EQ(model.queue, 0u);
  EXPECT_EQ(model.nice, 19);
  EXPECT_EQ(model.cpus, "0-3,8");
  EXPECT_EQ(model.memory, std::uint64_t{1} << 30);
  EXPECT_EQ(model.chat_template, "chatml");
  EXPECT_EQ(model.program, "/bin/sh");
  EXPECT_EQ(model.start_timeout, 5s);
}

TEST(LocalModelKeys, CpusAreAList) {
  for (const std::string wrong : {"a", "3-1", "1,", ",1", "1-", "0-2000", "1--2"}) {
    EXPECT_THAT(problems_of(minimal + "local_model: {file: /dev/null, cpus: \"" + wrong + "\"}\n"),
                Contains(HasSubstr("is no list of CPUs")))
        << wrong;
  }
}

TEST(Units, Shares) {
  EXPECT_DOUBLE_EQ(*parse_share("20%"), 0.2);
  EXPECT_DOUBLE_EQ(*parse_share("0%"), 0);
  EXPECT_DOUBLE_EQ(*parse_share("99.5%"), 0.995);
  EXPECT_DOUBLE_EQ(*parse_share("1.05%"), 0.0105);
  for (const char* wrong : {"", "%", "20", "-1%", "1.%", "1.234%", ".5%", "1e3%", "20 %"})
    EXPECT_FALSE(parse_share(wrong));
}

}  // namespace
}  // namespace brink::conf
