#include "tests/bench/script.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

namespace brink::bench {
namespace {

TEST(Script, CutsTheSameBytesTheSameWayForOneSeed) {
  const Script whole = event_stream(64);
  const Script cut = in_random_writes(whole, 7);
  EXPECT_EQ(cut.bytes, whole.bytes);
  EXPECT_EQ(cut.ends, in_random_writes(whole, 7).ends);
  EXPECT_NE(cut.ends, in_random_writes(whole, 8).ends);
  EXPECT_EQ(cut.ends.back(), whole.bytes.size());
  std::size_t begin = 0;
  for (const std::size_t end : cut.ends) {
    EXPECT_GE(end, begin + 1);
    EXPECT_LE(end, begin + 128);
    begin = end;
  }
}

TEST(Script, WritesTheHeadEachEventAndTheEndOnItsOwn) {
  const Script script = event_stream(3);
  ASSERT_EQ(script.ends.size(), 5u);
  const std::string_view bytes = script.bytes;
  EXPECT_TRUE(bytes.substr(0, script.ends[0]).ends_with("\r\n\r\n"));
  EXPECT_TRUE(bytes.substr(script.ends[3]).ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"));
}

TEST(Answers, HasTheBodySizesOfTheWorkloads) {
  Answers answers;
  EXPECT_NE(answers.find("/w1")->script->bytes.find("content-length: 128\r\n"), std::string_view::npos);
  EXPECT_NE(answers.find("/w2")->script->bytes.find("content-length: 1024\r\n"), std::string_view::npos);
  EXPECT_NE(answers.find("/w4")->script->bytes.find("content-length: 262144\r\n"), std::string_view::npos);
}

TEST(Answers, PacesAndSizesAStreamAsAsked) {
  Answers answers;
  const auto answer = answers.find("/stream?events=10&gap=5");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->gap_ns, 5'000'000);
  EXPECT_EQ(answer->script->ends.size(), 12u);
  EXPECT_EQ(answers.find("/w3?gap=5")->gap_ns, 5'000);
}

TEST(Answers, RefusesWhatItDoesNotHave) {
  Answers answers;
  for (const std::string_view target :
       {"/", "/w5", "/stream?events=0", "/stream?events=x", "/stream?events=100001", "/w3?gap=-1"}) {
    EXPECT_FALSE(answers.find(target)) << target;
  }
}

}  // namespace
}  // namespace brink::bench
