// What is no chunked coding, one row a rule, as raw bytes. docs/framing.md tells the same list in words.
#include <gtest/gtest.h>

#include <boost/beast/http/string_body.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "tests/proxy/http/chunked_feed.hpp"
#include "tests/proxy/http/head_cases.hpp"

namespace brink::http {
namespace {

using namespace std::string_view_literals;

struct BadChunk {
  const char* name;
  std::string_view bytes;
  Beast alone;
};
void PrintTo(const BadChunk& row, std::ostream* out) { *out << row.name; }

class ChunkedRule : public testing::TestWithParam<BadChunk> {};

TEST_P(ChunkedRule, IsRefusedWholeAndByteByByte) {
  const auto bytes = GetParam().bytes;
  for (const auto& out : {decode(bytes), decode(bytes, cut_everywhere(bytes))}) {
    EXPECT_FALSE(out.done);
    EXPECT_NE(out.error, "");
  }
}

TEST_P(ChunkedRule, IsKnownToBeastOrNot) {
  boost::beast::http::request_parser<boost::beast::http::string_body> parser;
  parser.body_limit(boost::none);
  parser.eager(true);
  const auto message = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(GetParam().bytes);
  boost::beast::error_code ec;
  parser.put(boost::asio::const_buffer(message.data(), message.size()), ec);
  EXPECT_EQ(!ec && parser.is_done() ? Beast::accepts : Beast::refuses, GetParam().alone) << ec.message();
}

constexpr BadChunk size_rules[] = {
    {"empty", "\r\nhello\r\n0\r\n\r\n"sv, Beast::refuses},
    {"empty_with_extension", ";a=b\r\nhello\r\n0\r\n\r\n"sv, Beast::refuses},
    {"hex_prefix", "0x2\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"underscore", "0_2e\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"plus", "+2\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"minus", "-2\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"not_hex", "g\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"space_before", " 2\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"space_after", "2 \r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"tab_after", "2\t\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"space_inside", "1 0\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"comma", "2,\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"high_byte", "2\xa0\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"nul", "2\0\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"seventeen_digits", "00000000000000002\r\nab\r\n0\r\n\r\n"sv, Beast::accepts},
    {"over_63_bits", "8000000000000000\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"over_64_bits", "10000000000000002\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"bare_lf", "2\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"bare_cr", "2\rab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"two_cr", "2\r\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"two_cr_and_extension", "1\r\r;ext\r\na\r\n0\r\n\r\n"sv, Beast::refuses},
    {"last_with_bare_lf", "0\n\n"sv, Beast::refuses},
};

constexpr BadChunk extension_rules[] = {
    {"lf", "2;a\nb\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"cr", "2;a\rb\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"nul", "2;a\0b\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"control", "2;a=\x01\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"control_in_quotes", "2;a=\"\x01\"\r\nab\r\n0\r\n\r\n"sv, Beast::accepts},
    {"lf_in_quotes", "2;a=\"\n\"\r\nab\r\n0\r\n\r\n"sv, Beast::accepts},
    {"del", "2;a\x7f\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"no_name", "2;\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"no_value", "2;a=\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"no_semicolon", "2 a=b\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"quote_not_closed", "2;a=\"b\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"quote_closed_by_escape", "2;a=\"b\\\"\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
    {"text_after_quote", "2;a=\"b\"c\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
};

constexpr BadChunk data_rules[] = {
    {"bare_lf_after_data", "2\r\nab\n0\r\n\r\n"sv, Beast::refuses},
    {"bare_cr_after_data", "2\r\nab\r0\r\n\r\n"sv, Beast::refuses},
    {"nothing_after_data", "2\r\nab0\r\n\r\n"sv, Beast::refuses},
    {"data_longer_than_said", "2\r\nabc\r\n0\r\n\r\n"sv, Beast::refuses},
    {"data_shorter_than_said", "3\r\nab\r\n0\r\n\r\n"sv, Beast::refuses},
};

constexpr BadChunk trailer_rules[] = {
    {"no_colon", "0\r\nname\r\n\r\n"sv, Beast::refuses},
    {"empty_name", "0\r\n: a\r\n\r\n"sv, Beast::refuses},
    {"space_before_colon", "0\r\nA : a\r\n\r\n"sv, Beast::refuses},
    {"space_first", "0\r\n A: a\r\n\r\n"sv, Beast::refuses},
    {"fold", "0\r\nA: a\r\n b\r\n\r\n"sv, Beast::accepts},
    {"high_byte_in_name", "0\r\nA\x85: a\r\n\r\n"sv, Beast::refuses},
    {"bare_lf", "0\r\nA: a\nB: b\r\n\r\n"sv, Beast::refuses},
    {"bare_lf_as_end", "0\r\nA: a\r\n\n"sv, Beast::refuses},
    {"bare_cr", "0\r\nA: a\rb\r\n\r\n"sv, Beast::refuses},
    {"cr_before_end", "0\r\n\r\r\n\r\n"sv, Beast::refuses},
    {"nul", "0\r\nA: a\0\r\n\r\n"sv, Beast::refuses},
    {"a_second_request", "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, Beast::refuses},
    {"transfer_encoding", "0\r\nTransfer-Encoding: chunked\r\n\r\n"sv, Beast::refuses},
    {"content_length", "0\r\ncontent-length: 5\r\n\r\n"sv, Beast::refuses},
    {"host", "0\r\nHost: b\r\n\r\n"sv, Beast::accepts},
    {"connection", "0\r\nConnection: close\r\n\r\n"sv, Beast::accepts},
    {"authorization", "0\r\nAuthorization: b\r\n\r\n"sv, Beast::accepts},
    {"proxy_anything", "0\r\nProxy-Status: b\r\n\r\n"sv, Beast::accepts},
    {"forwarded_for", "0\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n"sv, Beast::accepts},
    {"set_cookie", "0\r\nSet-Cookie: a=b\r\n\r\n"sv, Beast::accepts},
    {"cache_control", "0\r\nCache-Control: public\r\n\r\n"sv, Beast::accepts},
    {"content_type", "0\r\nContent-Type: text/html\r\n\r\n"sv, Beast::accepts},
    {"content_encoding", "0\r\nContent-Encoding: gzip\r\n\r\n"sv, Beast::accepts},
    {"range_condition", "0\r\nIf-Range: \"a\"\r\n\r\n"sv, Beast::accepts},
    {"second_is_wrong", "0\r\nDigest: x\r\nTrailer: a\r\n\r\n"sv, Beast::accepts},
};

std::string bad_chunk_name(const testing::TestParamInfo<BadChunk>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Size, ChunkedRule, testing::ValuesIn(size_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Extension, ChunkedRule, testing::ValuesIn(extension_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Data, ChunkedRule, testing::ValuesIn(data_rules), bad_chunk_name);
INSTANTIATE_TEST_SUITE_P(Trailer, ChunkedRule, testing::ValuesIn(trailer_rules), bad_chunk_name);

}  // namespace
}  // namespace brink::http
