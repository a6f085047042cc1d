#include "cache/http/dictionary.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

using Kind = DictionaryMember::Kind;

// "name:kind:text" of each member, or "invalid".
std::string parsed(Fields fields) {
  const auto members = parse_dictionary(fields, "d");
  if (!members) return "invalid";
  std::string result;
  for (const DictionaryMember& member : *members) {
    result += member.name + ":" + "yniso"[static_cast<int>(member.kind)] + ":" + member.text + " ";
  }
  return result;
}

TEST(Dictionary, MembersKeepTheirTypes) {
  EXPECT_EQ(parsed(Head{R"(d: a, b=?0, c=-12, d="x\"\\y", e=tok, f=1.5, *g;p=1)"}),
            R"(a:y: b:n: c:i:-12 d:s:x"\y e:o: f:o:1.5 *g:y: )");
  EXPECT_EQ(parsed(Head{"d: a=1", "x: y", "D:", "d: b=2"}), "a:i:1 b:i:2 ");
  EXPECT_EQ(parsed(Head{"x: y"}), "");
  EXPECT_EQ(parsed(Head{"d:"}), "");
}

TEST(Dictionary, TheLastOfARepeatedNameCounts) {
  EXPECT_EQ(parsed(Head{"d: a=1, b=2, a=3"}), "a:i:3 b:i:2 ");
  EXPECT_EQ(parsed(Head{"d: a=?0", "d: a"}), "a:y: ");
}

TEST(Dictionary, WhatTheGrammarForbidsIsInvalid) {
  for (const char* bad : {"A=1",
                          "a=1,",
                          ",a",
                          "a,,b",
                          "a b",
                          "a =1",
                          "a= 1",
                          "a=",
                          "a=-",
                          "a=1.",
                          "a=.5",
                          "a=1.2345",
                          "a=1234567890123456",
                          "a=1234567890123.1",
                          "a=\"x",
                          "a=\"\\x\"",
                          "a=\"\x80\"",
                          "a=?2",
                          "a=:x",
                          "a=:\x01:",
                          "a=(1",
                          "a=(1\"x\")",
                          "a=@1.5",
                          "a=%x",
                          "a;B=1",
                          "a;b=",
                          "1a",
                          "a=1\tx"}) {
    EXPECT_EQ(parsed(Head{std::string("d: ") + bad}), "invalid") << bad;
  }
}

}  // namespace
}  // namespace brink::cache::http
