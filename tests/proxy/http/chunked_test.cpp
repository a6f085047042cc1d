// The chunked coding: what is content, where the message ends, and what is no chunked coding at all.
#include "proxy/http/chunked.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <string_view>

namespace brink::http {
namespace {

using namespace std::string_view_literals;

struct Decoded {
  std::string content;
  std::string trailers;
  std::string left;  // input after the end of the message
  bool done = false;
  std::string error;
};

// Feeds `input` in pieces that end at `cuts` (ascending), each in a buffer of its own as a socket would.
Decoded decode(std::string_view input, const std::vector<std::size_t>& cuts = {}, bool in_place = false) {
  ChunkedReader reader;
  Decoded out;
  std::size_t begin = 0;
  for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
    const auto end = piece < cuts.size() ? cuts[piece] : input.size();
    std::string buffer(input.substr(begin, end - begin));
    const auto result =
        in_place ? reader.decode_in_place(buffer.data(), buffer.size()) : reader.decode(buffer.data(), buffer.size());
    out.content += buffer.substr(result.offset, result.decoded);
    out.done = result.done;
    out.error = result.error != nullptr ? result.error : "";
    if (result.done || result.error != nullptr) {
      out.left = std::string(input.substr(begin + result.consumed));
      break;
    }
    EXPECT_EQ(result.consumed, buffer.size());
    begin = end;
  }
  out.trailers = reader.trailers();
  return out;
}

constexpr auto whole =
    "5\r\nhello\r\n0000006;name=value ; other=\"a;\\\"b\"\r\n world\r\nA\r\n\r\n01234\r\n5\r\n000\r\nDigest: x\r\nA:\r\n\r\nGET /"sv;

TEST(Chunked, ContentTrailersAndWhatFollows) {
  const auto out = decode(whole);
  EXPECT_EQ(out.error, "");
  ASSERT_TRUE(out.done);
  EXPECT_EQ(out.content, "hello world\r\n01234\r\n5");
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
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < split_sample.size(); ++i) cuts.push_back(i);
  const auto out = decode(split_sample, cuts);
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

struct BadChunk {
  const char* name;
  std::string_view bytes;
};
void PrintTo(const BadChunk& row, std::ostream* out) { *out << row.name; }

class ChunkedRule : public testing::TestWithParam<BadChunk> {};

TEST_P(ChunkedRule, IsRefusedWholeAndByteByByte) {
  const auto bytes = GetParam().bytes;
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < bytes.size(); ++i) cuts.push_back(i);
  for (const auto& out : {decode(bytes), decode(bytes, cuts)}) {
    EXPECT_FALSE(out.done);
    EXPECT_NE(out.error, "");
  }
}

constexpr BadChunk size_rules[] = {
    {"empty", "\r\nhello\r\n0\r\n\r\n"sv},
    {"empty_with_extension", ";a=b\r\nhello\r\n0\r\n\r\n"sv},
    {"hex_prefix", "0x2\r\nab\r\n0\r\n\r\n"sv},
    {"underscore", "0_2e\r\nab\r\n0\r\n\r\n"sv},
    {"plus", "+2\r\nab\r\n0\r\n\r\n"sv},
    {"minus", "-2\r\nab\r\n0\r\n\r\n"sv},
    {"not_hex", "g\r\nab\r\n0\r\n\r\n"sv},
    {"space_before", " 2\r\nab\r\n0\r\n\r\n"sv},
    {"space_after", "2 \r\nab\r\n0\r\n\r\n"sv},
    {"tab_after", "2\t\r\nab\r\n0\r\n\r\n"sv},
    {"space_inside", "1 0\r\nab\r\n0\r\n\r\n"sv},
    {"comma", "2,\r\nab\r\n0\r\n\r\n"sv},
    {"high_byte", "2\xa0\r\nab\r\n0\r\n\r\n"sv},
    {"nul", "2\0\r\nab\r\n0\r\n\r\n"sv},
    {"seventeen_digits", "00000000000000002\r\nab\r\n0\r\n\r\n"sv},
    {"over_63_bits", "8000000000000000\r\nab\r\n0\r\n\r\n"sv},
    {"over_64_bits", "10000000000000002\r\nab\r\n0\r\n\r\n"sv},
    {"bare_lf", "2\nab\r\n0\r\n\r\n"sv},
    {"bare_cr", "2\rab\r\n0\r\n\r\n"sv},
    {"two_cr", "2\r\r\nab\r\n0\r\n\r\n"sv},
    {"two_cr_and_extension", "1\r\r;ext\r\na\r\n0\r\n\r\n"sv},
    {"last_with_bare_lf", "0\n\n"sv},
};

constexpr BadChunk extension_rules[] = {
    {"lf", "2;a\nb\r\nab\r\n0\r\n\r\n"sv},
    {"cr", "2;a\rb\r\nab\r\n0\r\n\r\n"sv},
    {"nul", "2;a\0b\r\nab\r\n0\r\n\r\n"sv},
    {"control", "2;a=\x01\r\nab\r\n0\r\n\r\n"sv},
    {"control_in_quotes", "2;a=\"\x01\"\r\nab\r\n0\r\n\r\n"sv},
    {"lf_in_quotes", "2;a=\"\n\"\r\nab\r\n0\r\n\r\n"sv},
    {"del", "2;a\x7f\r\nab\r\n0\r\n\r\n"sv},
    {"no_name", "2;\r\nab\r\n0\r\n\r\n"sv},
    {"no_value", "2;a=\r\nab\r\n0\r\n\r\n"sv},
    {"no_semicolon", "2 a=b\r\nab\r\n0\r\n\r\n"sv},
    {"quote_not_closed", "2;a=\"b\r\nab\r\n0\r\n\r\n"sv},
    {"quote_closed_by_escape", "2;a=\"b\\\"\r\nab\r\n0\r\n\r\n"sv},
    {"text_after_quote", "2;a=\"b\"c\r\nab\r\n0\r\n\r\n"sv},
};

constexpr BadChunk data_rules[] = {
    {"bare_lf_after_data", "2\r\nab\n0\r\n\r\n"sv},       {"bare_cr_after_data", "2\r\nab\r0\r\n\r\n"sv},
    {"nothing_after_data", "2\r\nab0\r\n\r\n"sv},         {"data_longer_than_said", "2\r\nabc\r\n0\r\n\r\n"sv},
    {"data_shorter_than_said", "3\r\nab\r\n0\r\n\r\n"sv},
};

constexpr BadChunk trailer_rules[] = {
    {"no_colon", "0\r\nname\r\n\r\n"sv},
    {"empty_name", "0\r\n: a\r\n\r\n"sv},
    {"space_before_colon", "0\r\nA : a\r\n\r\n"sv},
    {"space_first", "0\r\n A: a\r\n\r\n"sv},
    {"fold", "0\r\nA: a\r\n b\r\n\r\n"sv},
    {"high_byte_in_name", "0\r\nA\x85: a\r\n\r\n"sv},
    {"bare_lf", "0\r\nA: a\nB: b\r\n\r\n"sv},
    {"bare_lf_as_end", "0\r\nA: a\r\n\n"sv},
    {"bare_cr", "0\r\nA: a\rb\r\n\r\n"sv},
    {"cr_before_end", "0\r\n\r\r\n\r\n"sv},
    {"nul", "0\r\nA: a\0\r\n\r\n"sv},
    {"a_second_request", "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv},
    {"transfer_encoding", "0\r\nTransfer-Encoding: chunked\r\n\r\n"sv},
    {"content_length", "0\r\ncontent-length: 5\r\n\r\n"sv},
    {"host", "0\r\nHost: b\r\n\r\n"sv},
    {"connection", "0\r\nConnection: close\r\n\r\n"sv},
    {"authorization", "0\r\nAuthorization: b\r\n\r\n"sv},
    {"proxy_anything", "0\r\nProxy-Status: b\r\n\r\n"sv},
    {"forwarded_for", "0\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n"sv},
    {"set_cookie", "0\r\nSet-Cookie: a=b\r\n\r\n"sv},
    {"cache_control", "0\r\nCache-Control: public\r\n\r\n"sv},
    {"content_type", "0\r\nContent-Type: text/html\r\n\r\n"sv},
    {"content_encoding", "0\r\nContent-Encoding: gzip\r\n\r\n"sv},
    {"range_condition", "0\r\nIf-Range: \"a\"\r\n\r\n"sv},
    {"second_is_wrong", "0\r\nDigest: x\r\nTrailer: a\r\n\r\n"sv},
};

std::string bad_chunk_name(const testing::TestParamInfo<BadChunk>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Size, ChunkedRule, testing::ValuesIn(size_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Extension, ChunkedRule, testing::ValuesIn(extension_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Data, ChunkedRule, testing::ValuesIn(data_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Trailer, ChunkedRule, testing::ValuesIn(trailer_rules), bad_chunk_name);

}  // namespace
}  // namespace brink::http
