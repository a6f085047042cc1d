// The chunked coding: what is content, where the message ends, however it is cut into pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/proxy/http/chunked_feed.hpp"

namespace brink::http {
namespace {

using namespace std::string_view_literals;

TEST(Chunked, ContentMayLookLikeTheCoding) {
  const auto out = decode("A\r\n\r\n01234\r\n5\r\n5\r\n0\r\n\r\n\r\n000\r\n\r\n"sv);
  ASSERT_TRUE(out.done) << out.error;
  EXPECT_EQ(out.content, "\r\n01234\r\n50\r\n\r\n");
}

TEST(Chunked, EndsAtTheEmptyLine) {
  const auto out = decode("3\r\nabc\r\n0\r\nDigest: x\r\nA:\r\n\r\nGET /"sv);
  EXPECT_EQ(out.error, "");
  ASSERT_TRUE(out.done);
  EXPECT_EQ(out.content, "abc");
  EXPECT_EQ(out.trailers, "Digest: x\r\nA:\r\n");
  EXPECT_EQ(out.left, "GET /");
}

constexpr auto split_sample =
    "5\r\nhello\r\n0000006;name=value ; other=\"a;\\\"b\"\r\n world\r\n0\r\nDigest: x\r\nA:\r\n\r\nGET /"sv;

TEST(Chunked, EverySplitPositionGivesTheSame) {
  const auto expected = decode(split_sample);
  ASSERT_TRUE(expected.done) << expected.error;
  for (const bool in_place : {false, true}) {
    for (std::size_t first = 0; first <= split_sample.size(); ++first) {
      for (std::size_t second = first; second <= split_sample.size(); ++second) {
        const auto out = decode(split_sample, {first, second}, in_place);
        ASSERT_TRUE(out.done) << first << ", " << second << ": " << out.error;
        EXPECT_EQ(out.content, expected.content) << first << ", " << second;
        EXPECT_EQ(out.trailers, expected.trailers) << first << ", " << second;
        EXPECT_EQ(out.left, expected.left) << first << ", " << second;
      }
    }
  }
}

TEST(Chunked, ByteByByteGivesTheSame) {
  const auto out = decode(split_sample, cut_everywhere(split_sample));
  ASSERT_TRUE(out.done) << out.error;
  EXPECT_EQ(out.content, "hello world");
}

TEST(Chunked, NoPrefixIsTakenForTheWhole) {
  const auto message_size = split_sample.size() - "GET /"sv.size();
  for (std::size_t size = 0; size < message_size; ++size) {
    const auto out = decode(split_sample.substr(0, size));
    EXPECT_FALSE(out.done) << "after " << size << " bytes";
    EXPECT_EQ(out.error, "") << "after " << size << " bytes";
  }
}

TEST(Chunked, RandomContentInRandomChunksComesBack) {
  std::mt19937 random(20261201);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    std::string content(below(4000), '\0'), encoded;
    for (auto& c : content) c = static_cast<char>(random());
    for (std::size_t at = 0; at < content.size();) {
      const auto size = 1 + below(std::min<std::size_t>(content.size() - at, 600));
      char line[32];
      std::snprintf(line, sizeof line, round % 2 == 0 ? "%zx\r\n" : "%04zX\r\n", size);
      encoded += line + content.substr(at, size) + "\r\n";
      at += size;
    }
    encoded += "0\r\n\r\n";

    std::vector<std::size_t> cuts;
    for (std::size_t at = below(700); at < encoded.size(); at += below(700)) cuts.push_back(at);
    const auto out = decode(encoded, cuts, round % 3 == 0);
    ASSERT_TRUE(out.done) << out.error;
    ASSERT_EQ(out.content, content);
  }
}

TEST(Chunked, InPlaceLeavesASinglePieceWhereItStands) {
  std::string buffer = "5\r\nhello\r\n";
  ChunkedReader reader;
  const auto result = reader.decode_in_place(buffer.data(), buffer.size());
  EXPECT_EQ(result.offset, 3u);
  EXPECT_EQ(result.decoded, 5u);
  EXPECT_EQ(buffer, "5\r\nhello\r\n");
}

TEST(Chunked, TheBytesAfterTheMessageStayUnmoved) {
  std::string buffer = "5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n";
  ChunkedReader reader;
  const auto result = reader.decode(buffer.data(), buffer.size());
  ASSERT_TRUE(result.done);
  EXPECT_EQ(buffer.substr(0, result.decoded), "hello");
  EXPECT_EQ(buffer.substr(result.consumed), "GET / HTTP/1.1\r\n");
}

TEST(Chunked, AfterTheEndNothingIsTaken) {
  std::string buffer = "0\r\n\r\n", more = "5\r\nhello\r\n";
  ChunkedReader reader;
  ASSERT_TRUE(reader.decode(buffer.data(), buffer.size()).done);
  const auto result = reader.decode(more.data(), more.size());
  EXPECT_TRUE(result.done);
  EXPECT_EQ(result.consumed, 0u);
}

TEST(Chunked, AfterAnErrorNothingIsTaken) {
  std::string buffer = "x\r\n", more = "5\r\nhello\r\n";
  ChunkedReader reader;
  ASSERT_NE(reader.decode(buffer.data(), buffer.size()).error, nullptr);
  const auto result = reader.decode(more.data(), more.size());
  EXPECT_NE(result.error, nullptr);
  EXPECT_EQ(result.consumed, 0u);
}

TEST(Chunked, ResetStartsAnotherMessage) {
  std::string first = "x\r\n", second = "1\r\na\r\n0\r\nA: b\r\n\r\n", third = "0\r\n\r\n";
  ChunkedReader reader;
  reader.decode(first.data(), first.size());
  reader.reset();
  EXPECT_TRUE(reader.decode(second.data(), second.size()).done);
  reader.reset();
  EXPECT_TRUE(reader.decode(third.data(), third.size()).done);
  EXPECT_EQ(reader.trailers(), "");
}

TEST(Chunked, ContentBeforeAnErrorIsGivenOut) {
  const auto out = decode("3\r\nabc\r\nx\r\n"sv);
  EXPECT_NE(out.error, "");
  EXPECT_EQ(out.content, "abc");
}

TEST(ChunkedLimits, SizeLine) {
  const auto with_extension = [](std::size_t line) { return "1;" + std::string(line - 4, 'a') + "\r\nx\r\n0\r\n\r\n"; };
  EXPECT_TRUE(decode(with_extension(ChunkedReader::max_line)).done);
  EXPECT_NE(decode(with_extension(ChunkedReader::max_line + 1)).error, "");
  EXPECT_NE(decode("1;" + std::string(ChunkedReader::max_line, 'a')).error, "") << "given up before its end";
}

TEST(ChunkedLimits, ExtensionsMayNotOutweighTheContent) {
  std::string thin, thick;
  for (int i = 0; i < 1000; ++i) {
    thin += "1;" + std::string(100, 'a') + "\r\nx\r\n";
    thick += "80;" + std::string(100, 'a') + "\r\n" + std::string(128, 'x') + "\r\n";
  }
  EXPECT_NE(decode(thin + "0\r\n\r\n").error, "");
  EXPECT_TRUE(decode(thick + "0\r\n\r\n").done);
}

TEST(ChunkedLimits, Trailers) {
  std::string trailers;
  while (trailers.size() + 12 <= ChunkedReader::max_trailers - 2) trailers += "Name: 0123\r\n";
  EXPECT_TRUE(decode("0\r\n" + trailers + "\r\n").done);
  EXPECT_NE(decode("0\r\n" + trailers + "Name: 0123\r\n\r\n").error, "");
  EXPECT_NE(decode("0\r\nA: " + std::string(ChunkedReader::max_trailers, 'a')).error, "") << "given up before its end";
}

}  // namespace
}  // namespace brink::http
