// A hostile backend's response is held to the same framing rules as a request: one row a rule, as raw bytes.
#include "tests/proxy/http/head_cases.hpp"

namespace brink::http {
namespace {

using namespace std::string_view_literals;
using enum HeadError;

class ResponseRule : public testing::TestWithParam<HeadCase> {};

TEST_P(ResponseRule, IsRefusedAlsoAsTheAnswerToHead) {
  const auto& row = GetParam();
  ResponseHead head;
  for (const bool head_request : {false, true}) {
    const auto result = parse_response(row.bytes, {}, head_request, head);
    EXPECT_EQ(result.error, row.error) << result.what;
    EXPECT_EQ(result.size, 0u);
    EXPECT_STRNE(result.what, "");
  }
}

TEST_P(ResponseRule, IsKnownToBeastOrNot) { EXPECT_EQ(beast_alone<false>(GetParam().bytes), GetParam().alone); }

constexpr HeadCase response_rules[] = {
    {"length_beside_coding", "6.1", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"coding_beside_length", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"coding_gzip", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"sv, malformed, Beast::accepts},
    {"coding_gzip_then_chunked", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_identity", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n"sv, malformed, Beast::accepts},
    {"coding_twice", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_repeated", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"coding_empty_element", "6.1", "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_in_1_0", "6.1", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed, Beast::accepts},
    {"coding_of_204", "6.1", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_of_1xx", "6.1", "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_of_101", "6.1", "HTTP/1.1 101 Switching\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_of_204", "RFC 9110 8.6", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_of_1xx", "RFC 9110 8.6", "HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_empty", "6.2", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_plus", "6.2", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_hex", "6.2", "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_list", "6.3", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n"sv, malformed, Beast::accepts},
    {"length_repeated", "6.3", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_too_large", "6.2", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"bare_lf", "2.2", "HTTP/1.1 200 OK\nContent-Length: 5\n\n"sv, malformed, Beast::refuses},
    {"bare_cr", "2.2", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n"sv, malformed, Beast::refuses},
    {"fold", "5.2", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"sv, malformed, Beast::accepts},
    {"nul_in_value", "RFC 9110 5.5", "HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n"sv, malformed, Beast::refuses},
    {"empty_name", "RFC 9110 5.1", "HTTP/1.1 200 OK\r\n: b\r\n\r\n"sv, malformed, Beast::refuses},
    {"space_before_colon", "5.1", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n"sv, malformed, Beast::refuses},
    {"space_before_first_field", "2.2", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n"sv, malformed, Beast::refuses},
    {"empty_line_first", "2.2", "\r\nHTTP/1.1 200 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"status_099", "RFC 9110 15", "HTTP/1.1 099 Low\r\n\r\n"sv, malformed, Beast::accepts},
    {"status_600", "RFC 9110 15", "HTTP/1.1 600 High\r\n\r\n"sv, malformed, Beast::accepts},
    {"status_of_two_digits", "4", "HTTP/1.1 20 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"status_of_four_digits", "4", "HTTP/1.1 2000 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"status_without_space", "4", "HTTP/1.1 200\r\n\r\n"sv, malformed, Beast::refuses},
    {"control_in_reason", "4", "HTTP/1.1 200 O\x01K\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_0_9", "2.3", "HTTP/0.9 200 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_without_minor", "2.3", "HTTP/2 200 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"no_version", "2.3", "200 OK\r\n\r\n"sv, malformed, Beast::refuses},
    {"html_at_once", "2.3", "<html><body>hello</body></html>\r\n"sv, malformed, Beast::refuses},
    {"version_2_0", "2.3", "HTTP/2.0 200 OK\r\n\r\n"sv, bad_version, Beast::refuses},
    {"version_1_2", "2.3", "HTTP/1.2 200 OK\r\n\r\n"sv, bad_version, Beast::refuses},
    {"connection_names_set_cookie", "RFC 9110 7.6.1",
     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: set-cookie\r\n\r\n"sv, malformed, Beast::accepts},
};

INSTANTIATE_TEST_SUITE_P(Rules, ResponseRule, testing::ValuesIn(response_rules), case_name);

}  // namespace
}  // namespace brink::http
