#include "cache/http/vary.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

std::string foo(Fields request) { return vary_key(std::vector<std::string>{"foo"}, request); }
std::string language(const std::string& value) {
  return vary_key(std::vector<std::string>{"accept-language"}, Head{"Accept-Language: " + value});
}

TEST(Vary, NamesAreInLowerCaseSortedAndOnce) {
  EXPECT_EQ(vary_names(Head{"Vary: Foo, bar", "vary: BAR,, Baz"}), (std::vector<std::string>{"bar", "baz", "foo"}));
  EXPECT_EQ(vary_names(Head{"A: b"}), std::vector<std::string>{});
}

TEST(Vary, AStarAnywhereMatchesNothing) {
  EXPECT_EQ(vary_names(Head{"Vary: Foo, *"}), std::nullopt);
  EXPECT_EQ(vary_names(Head{"Vary:", "Vary: *"}), std::nullopt);
}

TEST(Vary, OnlyNamedFieldsCount) {
  EXPECT_EQ(foo(Head{"Foo: 1", "Other: 2"}), foo(Head{"Other: 3", "fOO: 1"}));
  EXPECT_NE(foo(Head{"Foo: 1"}), foo(Head{"Foo: 2"}));
  EXPECT_NE(foo(Head{"Foo: a"}), foo(Head{"Foo: A"}));
}

TEST(Vary, AbsentIsNotEmpty) {
  EXPECT_NE(foo(Head{}), foo(Head{"Foo: 1"}));
  EXPECT_NE(foo(Head{}), foo(Head{"Foo:"}));
  EXPECT_EQ(foo(Head{}), foo(Head{"Bar: 1"}));
}

TEST(Vary, LinesAreJoinedAndWhiteSpaceAtCommasGoes) {
  EXPECT_EQ(foo(Head{"Foo: 1, 2"}), foo(Head{"Foo: 1", "Foo: 2"}));
  EXPECT_EQ(foo(Head{"Foo: 1,2"}), foo(Head{"Foo:  1, 2 "}));
  EXPECT_NE(foo(Head{"Foo: \"1, 2\""}), foo(Head{"Foo: \"1,2\""}));
  EXPECT_NE(foo(Head{"Foo: 1, 2"}), foo(Head{"Foo: 2, 1"}));
  EXPECT_NE(foo(Head{"Foo: a b"}), foo(Head{"Foo: ab"}));
}

TEST(Vary, OfPreferencesOrderAndCaseMeanNothing) {
  EXPECT_EQ(language("en, de"), language("de, en"));
  EXPECT_EQ(language("en, de"), language("eN,   De "));
  EXPECT_EQ(language("en, de;q=0.50"), language("de; Q=0.5 , en;q=1.0"));
  EXPECT_NE(language("en, de;q=0.5"), language("de, en;q=0.5"));
  EXPECT_NE(language("en;q=0"), language("en"));
  const std::vector<std::string> names = {"accept-encoding"};
  EXPECT_EQ(vary_key(names, Head{"Accept-Encoding: gzip, br;q=1"}),
            vary_key(names, Head{"Accept-Encoding: BR", "Accept-Encoding: gzip"}));
}

TEST(Vary, NoValueImitatesTwo) {
  const std::vector<std::string> names = {"a", "b"};
  EXPECT_NE(vary_key(names, Head{"a: x1:b1:y", "b: z"}), vary_key(names, Head{"a: x", "b: y1:z"}));
  EXPECT_NE(vary_key(names, Head{"a: -"}), vary_key(names, Head{"b: -"}));
  EXPECT_NE(vary_key(names, Head{"a: 1:b-"}), vary_key(names, Head{"a: 1:b-", "b:"}));
}

}  // namespace
}  // namespace brink::cache::http
