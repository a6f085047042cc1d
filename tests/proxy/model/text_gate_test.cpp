#include "proxy/model/text_gate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace brink::model {
namespace {

TEST(Utf8Gate, HoldsACharacterBackUntilItIsWhole) {
  Utf8Gate gate;
  EXPECT_EQ(gate.push("a\xf0\x9f"), "a");
  EXPECT_EQ(gate.push("\x98"), "");
  EXPECT_EQ(gate.push("\x80"
                      "b"),
            "\xf0\x9f\x98\x80"
            "b");
}

TEST(Utf8Gate, ReplacesWhatCannotBecomeACharacter) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(Utf8Gate().push("\x80"), r);              // a continuation alone
  EXPECT_EQ(Utf8Gate().push("\xc0\xaf"), r);          // overlong
  EXPECT_EQ(Utf8Gate().push("\xe0\x9f\xbf"), r);      // overlong
  EXPECT_EQ(Utf8Gate().push("\xed\xa0\x80"), r);      // a surrogate
  EXPECT_EQ(Utf8Gate().push("\xf4\x90\x80\x80"), r);  // above U+10FFFF
  EXPECT_EQ(Utf8Gate().push("\xff\xbf\xbf\xbf"), r);  // no lead byte at all
  EXPECT_EQ(Utf8Gate().push("\xe2\x82"
                            "x"),
            r + "x");  // cut short
}

TEST(Utf8Gate, WhateverTheBytesAndTheirPartsTheTextIsValidAndTheSame) {
  std::mt19937 random(7);
  const std::vector<unsigned char> alphabet{'a',  0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed,
                                            0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xff};
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) bytes += static_cast<char>(alphabet[random() % alphabet.size()]);
    const std::string whole = Utf8Gate().push(bytes);
    EXPECT_TRUE(is_utf8(whole));
    Utf8Gate gate;
    std::string in_parts;
    for (const char byte : bytes) in_parts += gate.push({&byte, 1});
    EXPECT_EQ(in_parts, whole);
  }
}

// Against trying every ending.
TEST(Utf8, KnowsWhatCanStillBecomeACharacter) {
  EXPECT_TRUE(is_utf8_beginning(""));
  EXPECT_FALSE(is_utf8_beginning("\xff"));
  const auto byte = [](int value) { return std::string(1, static_cast<char>(value)); };
  for (int lead = 0x80; lead < 0x100; ++lead) {
    bool lead_can = false;
    for (int second = 0x80; second < 0xc0; ++second) {
      const std::string two = byte(lead) + byte(second);
      bool can = is_utf8(two);
      for (int third = 0x80; third < 0xc0; ++third) {
        can = can || is_utf8(two + byte(third)) || is_utf8(two + byte(third) + byte(0x80));
      }
      EXPECT_EQ(is_utf8_beginning("a" + two), can) << lead << " " << second;
      lead_can = lead_can || can;
    }
    EXPECT_EQ(is_utf8_beginning(byte(lead)), lead_can) << lead;
  }
}

TEST(StopGate, LetsThroughWhatCannotBeginAStopString) {
  StopGate gate({"END"});
  EXPECT_EQ(gate.push("abE"), "ab");
  EXPECT_EQ(gate.push("x"), "Ex");
  EXPECT_EQ(gate.push("EN"), "");
  EXPECT_EQ(gate.push("D and more"), "");
  EXPECT_TRUE(gate.stopped());
  EXPECT_EQ(gate.push("more"), "");
}

TEST(StopGate, GivesBackTheHeldTextWhenTheAnswerEndsOtherwise) {
  StopGate gate({"END"});
  EXPECT_EQ(gate.push("the EN"), "the ");
  EXPECT_EQ(gate.flush(), "EN");
  EXPECT_FALSE(gate.stopped());
}

TEST(StopGate, HoldsTheLongestBeginningOfAny) {
  StopGate gate({"aab", "ac"});
  EXPECT_EQ(gate.push("xaa"), "x");
  EXPECT_EQ(gate.push("a"), "a");
  EXPECT_EQ(gate.push("c"), "a");  // "ac" is complete, what stands before it goes out
  EXPECT_TRUE(gate.stopped());
}

TEST(StopGate, TheFirstToBeCompleteEndsTheText) {
  StopGate gate({"abcdef", "cd"});
  EXPECT_EQ(gate.push("xabcdef"), "xab");
  EXPECT_TRUE(gate.stopped());
}

TEST(StopGate, OfTwoCompleteAtOnceTheLongerCounts) {
  StopGate gate({"cd", "bcd"});
  EXPECT_EQ(gate.push("abcd"), "a");
}

// What comes out must not depend on how the model cut its answer into pieces.
TEST(TextGate, ThePiecesDoNotMatter) {
  std::mt19937 random(11);
  const std::vector<std::string> stops{"aba", "bb\xc3\xa9", "\xc3\xa9\xc3\xa9", "cabb"};
  const std::vector<std::string> parts{"a", "b", "c", "\xc3\xa9"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 14; ++i) text += parts[random() % parts.size()];
    TextGate whole(stops);
    std::string expected = whole.push(text);
    if (!whole.stopped()) expected += whole.flush();
    TextGate gate(stops);
    std::string got;
    for (std::size_t at = 0; at < text.size() && !gate.stopped();) {
      const std::size_t size = 1 + random() % 4;
      got += gate.push(std::string_view(text).substr(at, size));
      at += size;
    }
    if (!gate.stopped()) got += gate.flush();
    EXPECT_EQ(got, expected) << text;
    for (const std::string& stop : stops) EXPECT_EQ(got.find(stop), std::string::npos) << text;
  }
}

TEST(TextGate, DropsACharacterThatNeverBecomesWhole) {
  TextGate gate({});
  EXPECT_EQ(gate.push("a\xe2\x82"), "a");
  EXPECT_EQ(gate.flush(), "");
}

}  // namespace
}  // namespace brink::model
