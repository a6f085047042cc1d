#include "cache/http/fields.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

std::vector<std::string> members(Fields fields, std::string_view name) {
  std::vector<std::string> result;
  for_each_member(fields, name, [&](std::string_view member) { result.emplace_back(member); });
  return result;
}

TEST(Fields, LinesOfOneNameMakeOneList) {
  const Head head{"A: 1, 2", "b: x", "a:3 ,, 4,"};
  EXPECT_EQ(members(head, "A"), (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_TRUE(is_repeated(head, "a"));
  EXPECT_FALSE(is_repeated(head, "b"));
  EXPECT_EQ(first_value(head, "B"), "x");
  EXPECT_EQ(first_value(head, "c"), std::nullopt);
}

TEST(Fields, CommasInsideQuotedStringsSeparateNothing) {
  EXPECT_EQ(members(Head{R"(a: x="1,2", y="\",", z)"}, "a"),
            (std::vector<std::string>{R"(x="1,2")", R"(y="\",")", "z"}));
  EXPECT_EQ(members(Head{R"(a: x="1,2)", "a: z"}, "a"), (std::vector<std::string>{R"(x="1,2)", "z"}));
}

TEST(Fields, DeltaSecondsAreDigitsAndStopAt31Bits) {
  EXPECT_EQ(parse_delta_seconds("003600"), 3600s);
  EXPECT_EQ(parse_delta_seconds("2147483647"), 2147483647s);
  EXPECT_EQ(parse_delta_seconds("2147483649"), 2147483648s);
  EXPECT_EQ(parse_delta_seconds("99999999999999999999999999999999"), 2147483648s);
  for (const char* bad : {"", "-1", "+1", "1.0", "1 ", "'1'", "0x1", "1a"})
    EXPECT_EQ(parse_delta_seconds(bad), std::nullopt);
}

}  // namespace
}  // namespace brink::cache::http
