#include "cache/inference/canonical.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace brink::cache::inference {
namespace {

// The canonical text of any value: read as a member's.
std::string canonical(std::string_view value) {
  Canonical reader;
  const char* const why = reader.read("{\"v\":" + std::string(value) + "}");
  return why != nullptr ? why : std::string(reader.members()[0].value);
}

const char* why(std::string_view text) {
  Canonical reader;
  return reader.read(text);
}

TEST(Canonical, MembersAreSortedAtEveryDepth) {
  EXPECT_EQ(canonical(R"( { "b" : [ { "z":1, "a" : { "d":2,"c":{"y":0,"x":[]} } } ] , "a":{ } } )"),
            R"({"a":{},"b":[{"a":{"c":{"x":[],"y":0},"d":2},"z":1}]})");
  EXPECT_EQ(canonical("[3,1,2]"), "[3,1,2]");
}

TEST(Canonical, TheOutermostMembersAreSortedToo) {
  Canonical reader;
  ASSERT_EQ(reader.read(R"({"b":1,"a":{"y":1,"x":2},"c":3})"), nullptr);
  ASSERT_EQ(reader.members().size(), 3U);
  EXPECT_EQ(reader.members()[0].name, "a");
  EXPECT_EQ(reader.members()[0].value, R"({"x":2,"y":1})");
  EXPECT_EQ(reader.members()[1].name, "b");
  EXPECT_EQ(reader.members()[2].value, "3");
}

TEST(Canonical, NumbersHaveOneSpelling) {
  for (const char* one : {"1", "1.0", "1e0", "10e-1", "0.1E1", "0.10e+1", "1.00000", "100e-2"})
    EXPECT_EQ(canonical(one), "1") << one;
  for (const char* zero : {"0", "-0", "0.0", "-0.000e5", "0e-7"}) EXPECT_EQ(canonical(zero), "0") << zero;
  EXPECT_EQ(canonical("-12"), "-12");
  EXPECT_EQ(canonical("100"), "1e2");
  EXPECT_EQ(canonical("0.7"), "7e-1");
  EXPECT_EQ(canonical("-0.0250"), "-25e-3");
  EXPECT_EQ(canonical("12.5e3"), "125e2");
  EXPECT_EQ(canonical("1050"), "105e1");
}

TEST(Canonical, LargeIntegersStayApart) {
  EXPECT_NE(canonical("9007199254740992"), canonical("9007199254740993"));
  EXPECT_NE(canonical("123456789012345678901234567890"), canonical("123456789012345678901234567891"));
  EXPECT_NE(canonical("0.1"), canonical("0.10000000000000000001"));
}

TEST(Canonical, StringsHaveOneSpelling) {
  EXPECT_EQ(canonical(R"("\u0041\/\u00e9")"), "\"A/\xc3\xa9\"");
  EXPECT_EQ(canonical(R"("\ud83d\ude00")"), "\"\xf0\x9f\x98\x80\"");
  EXPECT_EQ(canonical(R"("\n\u000A\t\u0000\"\\\u0022\u005c")"), R"("\n\n\t\u0000\"\\\"\\")");
  EXPECT_EQ(canonical(R"("\u0008\u000c\u000d\u001F")"), R"("\b\f\r\u001f")");
  EXPECT_EQ(canonical(R"("\u0008\u000c\u000d\u001F")"), canonical(R"("\b\f\r\u001f")"));
  EXPECT_EQ(canonical(R"({"\u0062":1,"a":2})"), R"({"a":2,"b":1})");
  EXPECT_NE(canonical(R"("e\u0301")"),
            canonical(R"("\u00e9")"));  // no Unicode normalisation: other bytes, other prompt
}

TEST(Canonical, DifferentTypesStayApart) {
  const char* const values[] = {"1", "\"1\"", "[1]", "true", "false", "null", "{}", "[]", "\"\"", "0", "\"null\""};
  for (const char* a : values) {
    for (const char* b : values) {
      if (a != b) {
        EXPECT_NE(canonical(a), canonical(b));
      }
    }
  }
}

TEST(Canonical, ADuplicateMemberIsRefused) {
  EXPECT_STREQ(why(R"({"a":1,"a":1})"), "the JSON names a member twice");
  EXPECT_STREQ(why(R"({"a":1,"b":2,"\u0061":3})"), "the JSON names a member twice");
  EXPECT_STREQ(why(R"({"x":[{"b":1,"a":1,"b":1}]})"), "the JSON names a member twice");
  EXPECT_EQ(why(R"({"a":{"a":1},"b":{"a":1}})"), nullptr);
}

TEST(Canonical, WhatIsNotJsonIsRefused) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "1",
                           "null",
                           "{",
                           "{}}",
                           "{} {}",
                           "{,}",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({"a" 1})",
                           R"({"a":1 "b":2})",
                           R"({a:1})",
                           R"({'a':1})",
                           R"({"a":[1,]})",
                           R"({"a":[1 2]})",
                           R"({"a":[)",
                           R"({"a":[1}})",
                           R"({"a":01})",
                           R"({"a":+1})",
                           R"({"a":.5})",
                           R"({"a":1.})",
                           R"({"a":1e})",
                           R"({"a":-})",
                           R"({"a":NaN})",
                           R"({"a":Infinity})",
                           R"({"a":0x1})",
                           R"({"a":tru})",
                           R"({"a":truex})",
                           R"({"a":"x)",
                           R"({"a":"\x"})",
                           R"({"a":"\u12"})",
                           R"({"a":"\u12g4"})",
                           "{\"a\":\"\n\"}",
                           "{\"a\":\"\x01\"}",

                           "\xef\xbb\xbf{}",
                           R"({"a":"\ud800"})",
                           R"({"a":"\ud800\u0041"})",
                           R"({"a":"\udc00"})",
                           R"({"a":"\ud800\ud800"})",
                           "{\"a\":\"x\\",
                           R"({"a":1}//)"})
    EXPECT_NE(why(text), nullptr) << text;
  EXPECT_NE(why(std::string_view("{}\0", 3)), nullptr);
  EXPECT_EQ(why(" \r\n\t{ \"a\" : 1 } "), nullptr);
}

TEST(Canonical, WhatIsNotUtf8IsRefused) {
  for (const char* bytes :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3("})
    EXPECT_STREQ(why("{\"a\":\"" + std::string(bytes) + "\"}"), "the JSON is not UTF-8");
  for (const char* bytes : {"\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80",
                            "\xf4\x8f\xbf\xbf", "\xef\xbf\xbf"})
    EXPECT_EQ(why("{\"a\":\"" + std::string(bytes) + "\"}"), nullptr);
}

TEST(Canonical, DepthAndExponentsAreBounded) {
  const auto nested = [](unsigned arrays) {
    return "{\"a\":" + std::string(arrays, '[') + std::string(arrays, ']') + "}";
  };
  EXPECT_EQ(why(nested(Canonical::max_depth - 1)), nullptr);
  EXPECT_STREQ(why(nested(Canonical::max_depth)), "the JSON is nested too deep");
  EXPECT_STREQ(why(nested(1'000'000)), "the JSON is nested too deep");
  EXPECT_STREQ(why(R"({"a":1e1000001})"), "a number of the JSON is out of range");
  EXPECT_STREQ(why(R"({"a":1e-99999999999999999999})"), "a number of the JSON is out of range");
}

TEST(Canonical, WhatIsNestedToBePutInOrderIsBounded) {
  const auto nested = [](std::size_t depth, std::size_t size) {
    std::string text = "\"" + std::string(size, 'x') + "\"";
    for (std::size_t i = 0; i < depth; ++i) text = "{\"b\":" + text + ",\"a\":1}";
    return text;
  };
  EXPECT_EQ(why(nested(12, 2'000'000)), nullptr);
  EXPECT_EQ(why(nested(100, 1'000)), nullptr);
  EXPECT_STREQ(why(nested(100, 2'000'000)), "the JSON is too costly to put in order");
}

TEST(Canonical, EveryPrefixOfATextIsRefused) {
  const std::string text = R"({"a":[1.5e3,true,null,"\u00e9\ud83d\ude00 )"
                           "\xe2\x82\xac"
                           R"("],"b":{"c":-0.1}})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));  // ASan sees its end
    EXPECT_NE(why({exact.data(), exact.size()}), nullptr) << size;
  }
  EXPECT_EQ(why(text), nullptr);
}

using Json = nlohmann::json;

// Against another parser: what is accepted and what it means agree, for texts and for damaged ones.
TEST(Canonical, AgreesWithAnotherParser) {
  std::mt19937 random(7);
  const std::string seed = R"({"m":[{"role":"user","content":"caf\u00e9 \"x\" )"
                           "\xe2\x82\xac"
                           R"(\n"},{"b":[1,-2.5e3,0]}],"t":0.7,"x":null})";
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed;
    for (unsigned change = random() % 3; change-- != 0;) {
      const std::size_t at = random() % text.size();
      constexpr std::string_view bytes = "{}[]\",:\\0159eE.-+ tfnul\x01\xc3\xa9";
      if (random() % 2 == 0)
        text[at] = bytes[random() % bytes.size()];
      else
        text.erase(at, 1 + random() % 3);
    }
    Canonical reader;
    const char* const refused = reader.read(text);
    Json theirs;
    try {
      theirs = Json::parse(text);
    } catch (const Json::parse_error&) {
    } catch (const Json::out_of_range&) {
      continue;  // they keep numbers as doubles
    }
    if (refused != nullptr) {
      const std::string_view reason = refused;
      if (reason != "the JSON names a member twice" && reason != "a number of the JSON is out of range") {
        EXPECT_FALSE(theirs.is_object()) << text << ": " << refused;
      }
      continue;
    }
    ++accepted;
    ASSERT_TRUE(theirs.is_object()) << text;
    Json ours = Json::object();
    for (const Canonical::Member& member : reader.members())
      ours[Json::parse('"' + std::string(member.name) + '"')] = Json::parse(member.value);
    EXPECT_EQ(ours, theirs) << text;
  }
  EXPECT_GT(accepted, 5000);
}

}  // namespace
}  // namespace brink::cache::inference
