// Placeholders: their values get into the configuration and nowhere else.
#include "conf/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Secrets, EnvironmentAndFilesAreReplacedWithinTheText) {
  Files files;
  files.write("token", "from-file\n");
  setenv("BRINK_TEST_SECRET", "from-env", 1);
  std::string out;
  EXPECT_EQ(expand("a ${env:BRINK_TEST_SECRET} b ${file:" + files.path("token") + "} $${c} $", "", out), "");
  EXPECT_EQ(out, "a from-env b from-file ${c} $");
  EXPECT_EQ(expand("${file:token}", files.path(""), out), "");
  EXPECT_EQ(out, "from-file");
}

TEST(Secrets, OnlyTheLastLineEndOfAFileIsDropped) {
  Files files;
  std::string out;
  files.write("a", "x\n\n");
  EXPECT_EQ(expand("${file:a}", files.path(""), out), "");
  EXPECT_EQ(out, "x\n");
  files.write("a", "x\r\n");
  EXPECT_EQ(expand("${file:a}", files.path(""), out), "");
  EXPECT_EQ(out, "x");
}

TEST(Secrets, MistakesSayWhatIsWrong) {
  Files files;
  std::string out;
  unsetenv("BRINK_TEST_UNSET");
  EXPECT_EQ(expand("${env:BRINK_TEST_UNSET}", "", out), "the environment variable `BRINK_TEST_UNSET` is not set");
  EXPECT_THAT(expand("${env:A-B}", "", out), HasSubstr("`A-B` is no name of an environment variable"));
  EXPECT_THAT(expand("${file:/nonexistent/x}", "", out), HasSubstr("cannot read `/nonexistent/x`: no such file"));
  EXPECT_THAT(expand("${file:/dev/zero}", "", out), HasSubstr("it is not a regular file"));
  EXPECT_THAT(expand("${env:X", "", out), HasSubstr("has no closing `}`"));
  EXPECT_THAT(expand("${vault:x}", "", out), HasSubstr("unknown placeholder `${vault:x}`"));
  files.write("big", std::string(65 * 1024, 'x'));
  EXPECT_THAT(expand("${file:big}", files.path(""), out), HasSubstr("is larger than 64KiB"));
}

TEST(Secrets, TheValueReachesTheTreeAndTheDisplayShowsThePlaceholder) {
  setenv("BRINK_TEST_SECRET", "s3cret", 1);
  const LoadResult result =
      load_text(minimal + "    rewrite: {set_headers: {authorization: \"Bearer ${env:BRINK_TEST_SECRET}\"}}\n");
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  EXPECT_EQ(result.config->routes.at(0).rewrite.set_headers.at(0).second, "Bearer s3cret");
  EXPECT_THAT(result.config->effective_json, HasSubstr("\"authorization\": \"Bearer ${env:BRINK_TEST_SECRET}\""));
  EXPECT_THAT(result.config->effective_json, Not(HasSubstr("s3cret")));
}

TEST(Secrets, PasswordsOfUrlsAreMaskedUnlessOnlyPlaceholdersStandThere) {
  EXPECT_EQ(hide_password("redis://u:pw@h:1/2"), "redis://u:***@h:1/2");
  EXPECT_EQ(hide_password("redis://:p:w@w@h"), "redis://:***@h");
  EXPECT_EQ(hide_password("redis://u:pw${env:A}@h"), "redis://u:***@h");
  EXPECT_EQ(hide_password("redis://u:$${env:A}@h"), "redis://u:***@h");
  EXPECT_EQ(hide_password("redis://${env:U}:pw@h"), "redis://${env:U}:***@h");
  for (const char* fine :
       {"redis://h:1/2", "redis://u:${env:A}${file:/x@y:z}@h", "${env:URL}", "redis://${file:/a:b@c}",
        "redis://${env:CREDENTIALS}@h:1", "unix:///run/a:b@c", "redis://u:@h", "u:pw@h", ""}) {
    EXPECT_EQ(hide_password(fine), fine);
  }
}

TEST(Secrets, NumbersAndAddressesMayComeFromOutsideToo) {
  setenv("BRINK_TEST_PORT", "8081", 1);
  setenv("BRINK_TEST_WORKERS", "3", 1);
  std::string text = minimal + "node: {workers: \"${env:BRINK_TEST_WORKERS}\"}\n";
  text.replace(text.find("127.0.0.1:0"), 11, "'127.0.0.1:${env:BRINK_TEST_PORT}'");
  const LoadResult result = load_text(text);
  ASSERT_TRUE(result.config) << to_string(result.problems.front());
  EXPECT_EQ(result.config->listeners.at(0).port, 8081);
  EXPECT_EQ(result.config->node.workers, 3u);
}

TEST(Secrets, AWrongValueIsNeverInTheMessage) {
  setenv("BRINK_TEST_SECRET", "s3cret\r\n", 1);
  const std::string placeholder = "\"${env:BRINK_TEST_SECRET}\"";
  const auto problems = problems_of(
      "node: {id: " + placeholder + ", workers: " + placeholder + ", drain_timeout: " + placeholder + "}\n" +
      "listeners: [{address: " + placeholder + "}]\n" + "downstream: {trusted_proxies: [" + placeholder + "]}\n" +
      "clusters: {c: {balance: " + placeholder + ", endpoints: [{url: " + placeholder + ", max_qps: " + placeholder +
      "}]}}\n" + "routes:\n  - name: a\n    match: {hosts: [" + placeholder + "], path: " + placeholder +
      ", methods: [" + placeholder + "], headers: {a: " + placeholder + "}}\n    cluster: c\n    rewrite: {host: " +
      placeholder + ", set_headers: {a: " + placeholder + "}, remove_headers: [" + placeholder + "]}\n");
  EXPECT_EQ(problems.size(), 15u) << testing::PrintToString(problems);
  for (const std::string& line : problems) EXPECT_THAT(line, Not(HasSubstr("s3cret")));
}

TEST(Secrets, NamesAreNoPlaceForThem) {
  EXPECT_THAT(
      problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                  "routes: [{name: \"${env:HOME}\", respond: {}}]\n"),
      ElementsAre(HasSubstr(":2:17: `name`: `${...}` is not allowed here, because names are logged and shown")));
}

TEST(Secrets, AnUnsetVariableIsALocatedProblem) {
  unsetenv("BRINK_TEST_UNSET");
  EXPECT_THAT(
      problems_of(minimal + "    rewrite:\n      set_headers:\n        authorization: ${env:BRINK_TEST_UNSET}\n"),
      ElementsAre("brink.yaml:11:24: `set_headers`: the environment variable `BRINK_TEST_UNSET` is not set"));
}

}  // namespace
}  // namespace brink::conf
