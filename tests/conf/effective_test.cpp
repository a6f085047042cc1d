// The effective configuration: the whole tree with its defaults, itself a configuration that means the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

TEST(Effective, ShowsDefaultsInTheOrderOfTheTable) {
  const LoadResult result = load_text(minimal);
  ASSERT_TRUE(result.config);
  const auto shown = nlohmann::ordered_json::parse(result.config->effective_json);
  std::vector<std::string> keys;
  for (const auto& item : shown.items()) keys.push_back(item.key());
  EXPECT_THAT(keys, testing::ElementsAre("node", "listeners", "admin", "downstream", "cache", "clusters", "routes",
                                         "access_log"));
  EXPECT_EQ(shown["node"]["workers"], "auto");
  EXPECT_EQ(shown["node"]["id"], result.config->node.id);
  EXPECT_EQ(shown["clusters"]["chat"]["limits"]["requests"], 1024);
  EXPECT_EQ(shown["routes"][0]["timeouts"]["total"], "10m");
}

// Loading what is shown gives the same again, so nothing is lost and nothing is invented.
void expect_stable(const std::string& path) {
  const std::vector<std::string> files{path};
  const LoadResult first = load(files);
  ASSERT_TRUE(first.config) << to_string(first.problems.front());
  const LoadResult second = load_text(first.config->effective_json);
  ASSERT_TRUE(second.config) << to_string(second.problems.front());
  EXPECT_EQ(first.config->effective_json, second.config->effective_json);
}

TEST(Effective, TheExamplesAreStable) {
  expect_stable(BRINK_SOURCE_DIR "/conf/brink.yaml");
  expect_stable(BRINK_SOURCE_DIR "/conf/quickstart.yaml");
}

TEST(Effective, ShortenedDefaultsAndFixedRepliesAreStable) {
  Files files;
  expect_stable(files.write("a.yaml",
                            "listeners: [{address: 127.0.0.1:0}]\n"
                            "clusters: {c: {endpoints: [{url: \"http://h\"}], health_check: {interval: 100ms}}}\n"
                            "routes:\n"
                            "  - {name: a, cluster: c, timeouts: {total: 2s}}\n"
                            "  - {name: b, match: {path: /b}, respond: {}}\n"));
}

TEST(Effective, IncludedFilesAreMergedIn) {
  Files files;
  files.write("a.yaml", "listeners: [{address: 127.0.0.1:0}]\nroutes: [{name: a, cluster: c}]\ninclude: [b.yaml]\n");
  files.write("b.yaml",
              "clusters: {c: {endpoints: [{url: \"http://h\"}]}}\n"
              "routes: [{name: b, match: {path: /b}, respond: {}}]\n");
  const LoadResult result = files.load("a.yaml");
  ASSERT_TRUE(result.config);
  const auto shown = nlohmann::json::parse(result.config->effective_json);
  EXPECT_EQ(shown["routes"].size(), 2u);
  EXPECT_TRUE(shown["clusters"].contains("c"));
  EXPECT_FALSE(shown.contains("include"));
}

}  // namespace
}  // namespace brink::conf
