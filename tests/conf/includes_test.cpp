// How several files become one configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string listener = "listeners: [{address: 127.0.0.1:0}]\n";

std::string route(const std::string& name) {
  return "routes: [{name: " + name + ", match: {path: /" + name + "}, respond: {}}]\n";
}

std::vector<std::string> route_names(const LoadResult& result) {
  std::vector<std::string> names;
  if (!result.config) return {to_string(result.problems.at(0))};
  for (const RouteConfig& r : result.config->routes) names.push_back(r.name);
  return names;
}

TEST(Includes, OwnContentFirstThenTheGlobsInOrderSortedByName) {
  Files files;
  files.write("brink.yaml", listener + "include: [z.yaml, routes.d/*.yaml]\n" + route("own"));
  files.write("z.yaml", route("z"));
  files.write("routes.d/b.yaml", route("b") + "include: [more/c.yaml]\n");
  files.write("routes.d/a.yaml", route("a"));
  files.write("routes.d/more/c.yaml", route("c"));
  files.write("routes.d/a.txt", "not: yaml for us\n");
  const LoadResult result = files.load("brink.yaml");
  EXPECT_THAT(route_names(result), ElementsAre("own", "z", "a", "b", "c"));
  EXPECT_EQ(result.config->routes.at(4).where.file, files.path("routes.d/more/c.yaml"));
}

TEST(Includes, ClustersOfOneFileServeRoutesOfAnother) {
  Files files;
  files.write("brink.yaml", listener + "routes: [{name: a, cluster: chat}]\ninclude: [c.yaml]\n");
  files.write("c.yaml", "clusters: {chat: {endpoints: [{url: \"http://h\"}]}}\n");
  EXPECT_TRUE(files.load("brink.yaml").config);
}

TEST(Includes, SeveralFilesOnTheCommandLineAreOneConfiguration) {
  Files files;
  const std::vector<std::string> both{files.write("a.yaml", listener + route("a")),
                                      files.write("b.yaml", "admin: {address: 127.0.0.1:0}\n" + route("b"))};
  EXPECT_THAT(route_names(load(both)), ElementsAre("a", "b"));
  files.write("b.yaml", listener);
  EXPECT_THAT(files.lines(load(both)),
              ElementsAre("b.yaml:1:1: `listeners` stands in another file already, at a.yaml:1"));
  const std::vector<std::string> twice{both[0], both[0]};
  EXPECT_THAT(files.lines(load(twice)),
              ElementsAre(HasSubstr("`a.yaml` is read twice; the first time on the command line")));
}

TEST(Includes, AMissingFileIsAnErrorAndAnEmptyWildcardIsNot) {
  Files files;
  files.write("brink.yaml", listener + route("a") + "include: [none/*.yaml, gone.yaml]\n");
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre("brink.yaml:3:24: cannot read `gone.yaml`: no such file"));
  EXPECT_THAT(files.problems("other.yaml"), ElementsAre("other.yaml: cannot read `other.yaml`: no such file"));
}

TEST(Includes, AnIncludedFileHoldsClustersRoutesAndIncludesOnly) {
  Files files;
  files.write("brink.yaml", listener + route("a") + "include: [b.yaml]\n");
  files.write("b.yaml", "clusters: {}\nnode: {}\n");
  EXPECT_THAT(files.problems("brink.yaml"),
              ElementsAre(HasSubstr("b.yaml:2:1: `node` may not stand in an included file")));
}

TEST(Includes, CyclesAndDoubleInclusionAreErrorsOfTheInclude) {
  Files files;
  files.write("brink.yaml", listener + "include: [b.yaml, b.yaml]\n");
  EXPECT_THAT(files.problems("brink.yaml"),
              testing::Contains("brink.yaml:2:19: `include`: `b.yaml` stands in this list twice"));
  files.write("brink.yaml", listener + "include: [b.yaml, \"[b].yaml\"]\n");
  files.write("b.yaml", route("b") + "include: [brink.yaml]\n");
  EXPECT_THAT(files.problems("brink.yaml"),
              ElementsAre("brink.yaml:2:19: `b.yaml` is read twice; the first time by brink.yaml:2",
                          "b.yaml:2:11: include cycle: `brink.yaml` is being read already"));
}

TEST(Includes, NestingHasALimit) {
  Files files;
  files.write("0.yaml", listener + route("r0") + "include: [1.yaml]\n");
  for (int i = 1; i <= 17; ++i) {
    files.write(std::to_string(i) + ".yaml", "include: [" + std::to_string(i + 1) + ".yaml]\n");
  }
  EXPECT_THAT(files.problems("0.yaml"), ElementsAre("16.yaml:1:11: includes are nested more than 16 deep"));
}

TEST(Includes, PlaceholdersAreNotForFileNames) {
  EXPECT_THAT(problems_of(listener + route("a") + "include: [\"${env:HOME}/x.yaml\"]\n"),
              ElementsAre(HasSubstr(":3:11: `include`: `${...}` is not allowed here")));
}

TEST(Includes, ProblemsComeInTheOrderOfTheFiles) {
  Files files;
  files.write("z.yaml", listener + "include: [a.yaml]\nroutes: [{name: x, cluster: nope}]\n");
  files.write("a.yaml", "foo: 1\n");
  EXPECT_THAT(files.problems("z.yaml"),
              ElementsAre(HasSubstr("z.yaml:3:29: there is no cluster `nope`; no cluster is defined"),
                          HasSubstr("a.yaml:1:1: unknown key `foo`")));
}

}  // namespace
}  // namespace brink::conf
