// What a request head may not be, one row a rule, as raw bytes. docs/framing.md tells the same list in words.
#include "tests/proxy/http/head_cases.hpp"

namespace brink::http {
namespace {

using namespace std::string_view_literals;
using enum HeadError;

class RequestRule : public testing::TestWithParam<HeadCase> {};

TEST_P(RequestRule, IsRefusedWithItsReason) {
  const auto& row = GetParam();
  RequestHead head;
  const auto result = parse_request(row.bytes, {}, head);
  EXPECT_EQ(result.error, row.error) << result.what;
  EXPECT_EQ(result.size, 0u);
  EXPECT_STRNE(result.what, "");
}

// What makes a head invalid stays so whatever follows, and no part of it is taken for a whole head.
TEST_P(RequestRule, IsNeverAcceptedInPart) {
  const auto& row = GetParam();
  RequestHead head;
  for (std::size_t size = 0; size <= row.bytes.size(); ++size) {
    EXPECT_EQ(parse_request(row.bytes.substr(0, size), {}, head).size, 0u) << "after " << size << " bytes";
  }
  const auto followed = std::string(row.bytes) + "GET /second HTTP/1.1\r\nHost: b\r\n\r\n";
  EXPECT_EQ(parse_request(followed, {}, head).error, row.error);
}

TEST_P(RequestRule, IsKnownToBeastOrNot) { EXPECT_EQ(beast_alone<true>(GetParam().bytes), GetParam().alone); }

constexpr HeadCase framing_rules[] = {
    {"length_beside_coding", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"coding_beside_length", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"coding_beside_length_zero", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"foreign_coding_beside_length", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"sv, malformed,
     Beast::accepts},
    {"length_beside_foreign_coding", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n\r\nhello"sv, malformed,
     Beast::refuses},
    {"coding_gzip", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"sv, unknown_coding,
     Beast::accepts},
    {"coding_identity", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"sv, unknown_coding,
     Beast::accepts},
    {"coding_xchunked", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"sv, unknown_coding,
     Beast::accepts},
    {"coding_gzip_then_chunked", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"sv,
     unknown_coding, Beast::accepts},
    {"coding_chunked_then_identity", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n"sv, unknown_coding, Beast::accepts},
    {"coding_chunked_twice", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"coding_field_repeated", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"coding_field_repeated_other_first", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_empty_element", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_empty_last_element", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked,\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"coding_empty", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n"sv, malformed, Beast::accepts},
    {"coding_quoted", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_with_parameter", "7.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;a=b\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"coding_after_vertical_tab", "6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
     "chunked\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"coding_with_underscore", "6.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"coding_in_1_0", "6.1", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_empty", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n"sv, malformed, Beast::refuses},
    {"length_empty_then_one", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\nContent-Length: 5\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"length_plus", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +10\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_plus_underscore", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1_0\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_minus", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_hex", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x10\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_letter_after", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1Z\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_inner_space", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 0\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_fraction", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_list_equal", "6.3", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_list_different", "6.3", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_trailing_comma", "6.3", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5,\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"length_repeated_equal", "6.3", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"length_repeated_different", "6.3",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"sv, malformed, Beast::refuses},
    {"length_over_64_bits", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551616\r\n\r\n"sv,
     malformed, Beast::refuses},
    {"length_over_63_bits", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"length_with_underscore", "6.2", "POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"length_with_high_byte_in_name", "5.1", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length\x85: 10\r\n\r\n"sv,
     malformed, Beast::refuses},
};

constexpr HeadCase line_rules[] = {
    {"bare_lf_after_request_line", "2.2", "GET / HTTP/1.1\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"bare_lf_after_field", "2.2", "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n"sv, malformed, Beast::refuses},
    {"bare_lf_as_end", "2.2", "GET / HTTP/1.1\r\nHost: a\r\n\n"sv, malformed, Beast::refuses},
    {"only_bare_lf", "2.2", "GET / HTTP/1.1\n\n"sv, malformed, Beast::refuses},
    {"bare_cr_in_value", "2.2", "GET / HTTP/1.1\r\nHost: a\r\nA: b\rc\r\n\r\n"sv, malformed, Beast::refuses},
    {"bare_cr_before_field", "2.2", "GET / HTTP/1.1\r\nHost: a\r\n\rA: b\r\n\r\n"sv, malformed, Beast::refuses},
    {"two_cr_before_lf", "2.2", "GET / HTTP/1.1\r\nHost: a\r\r\nA: b\r\n\r\n"sv, malformed, Beast::refuses},
    {"bare_cr_in_request_line", "2.2", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"fold_with_space", "5.2", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n"sv, malformed, Beast::accepts},
    {"fold_with_tab", "5.2", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\tc\r\n\r\n"sv, malformed, Beast::accepts},
    {"fold_of_an_empty_value", "5.2", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 5\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"fold_into_nothing", "5.2", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n \r\n\r\n"sv, malformed, Beast::accepts},
    {"space_before_first_field", "2.2", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"tab_before_first_field", "2.2", "GET / HTTP/1.1\r\n\tContent-Length: 1\r\nHost: a\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"three_empty_lines_first", "2.2", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"bare_lf_first", "2.2", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"nul_in_value", "RFC 9110 5.5", "GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n"sv, malformed, Beast::refuses},
    {"lf_nul_cr_in_value", "RFC 9110 5.5", "GET / HTTP/1.1\r\nHost: a\r\nHeader: v\n\0\ralue\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"escape_in_value", "RFC 9110 5.5", "GET / HTTP/1.1\r\nHost: a\r\nA: \x1b[0m\r\n\r\n"sv, malformed, Beast::refuses},
    {"del_in_value", "RFC 9110 5.5", "GET / HTTP/1.1\r\nHost: a\r\nA: b\x7f\r\n\r\n"sv, malformed, Beast::refuses},
    {"empty_name", "RFC 9110 5.1", "GET / HTTP/1.1\r\nHost: a\r\n: value\r\n\r\n"sv, malformed, Beast::refuses},
    {"no_colon", "5", "GET / HTTP/1.1\r\nHost: a\r\nname\r\n\r\n"sv, malformed, Beast::refuses},
    {"space_before_colon", "5.1", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"tab_before_colon", "5.1", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"space_in_name", "RFC 9110 5.1", "GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n"sv, malformed, Beast::refuses},
    {"high_byte_in_name", "RFC 9110 5.1", "GET / HTTP/1.1\r\nHost: a\r\n\xc3\xa4: c\r\n\r\n"sv, malformed,
     Beast::refuses},
    {"nul_in_name", "RFC 9110 5.1", "GET / HTTP/1.1\r\nHost: a\r\nA\0: c\r\n\r\n"sv, malformed, Beast::refuses},
    {"bracket_in_name", "RFC 9110 5.1", "GET / HTTP/1.1\r\nHost: a\r\nA[]: c\r\n\r\n"sv, malformed, Beast::refuses},
    {"connection_names_host", "RFC 9110 7.6.1", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Host\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"connection_names_length", "RFC 9110 7.6.1",
     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: content-length\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"connection_names_forwarded_host", "RFC 9110 7.6.1",
     "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Forwarded-Host\r\n\r\n"sv, malformed, Beast::accepts},
    {"connection_names_authorization", "RFC 9110 7.6.1",
     "GET / HTTP/1.1\r\nHost: a\r\nConnection: authorization\r\n\r\n"sv, malformed, Beast::accepts},
    {"connection_names_cookie", "RFC 9110 7.6.1", "GET / HTTP/1.1\r\nHost: a\r\nConnection: cookie\r\n\r\n"sv,
     malformed, Beast::accepts},
    {"connection_is_no_list", "RFC 9110 7.6.1", "GET / HTTP/1.1\r\nHost: a\r\nConnection: a b\r\n\r\n"sv, malformed,
     Beast::refuses},
};

constexpr HeadCase start_line_rules[] = {
    {"version_0_9", "2.3", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"simple_request_of_0_9", "2.3", "GET /\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_1_32", "2.3", "GET / HTTP/1.32\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_without_minor", "2.3", "GET / HTTP/2\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_lower_case", "2.3", "GET / http/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_with_space_after", "3", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_of_another_protocol", "2.3", "GET / ICAP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"version_1_2", "2.3", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"sv, bad_version, Beast::refuses},
    {"version_2_0", "2.3", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"sv, bad_version, Beast::refuses},
    {"http2_preface", "RFC 9113 3.4", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"sv, bad_version, Beast::refuses},
    {"tls_client_hello", "3", "\x16\x03\x01\x02\x00\x01"sv, malformed, Beast::refuses},
    {"method_empty", "3.1", " / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"method_not_a_token", "3.1", "GE(T / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"method_too_long", "3.1",
     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"two_spaces_after_method", "3", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"two_spaces_after_target", "3", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"tab_after_method", "3", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"space_in_target", "3.2", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"nul_in_target", "3.2", "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"control_in_target", "3.2", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"del_in_target", "3.2", "GET /a\x7f HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::refuses},
    {"high_byte_in_target", "3.2", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"fragment", "3.2.1", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"fragment_in_query", "3.2.1", "GET /a?b#c HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"path_without_slash", "3.2.1", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"query_without_path", "3.2.1", "GET ?a HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"star_of_get", "3.2.4", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"star_and_more", "3.2.4", "OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"scheme_ftp", "3.2.2", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"scheme_file", "3.2.2", "GET file:///etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"authority_form_of_get", "3.2.3", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"connect_with_path", "3.2.3", "CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"connect_without_port", "3.2.3", "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
};

constexpr HeadCase host_rules[] = {
    {"missing", "3.2", "GET / HTTP/1.1\r\nA: b\r\n\r\n"sv, malformed, Beast::accepts},
    {"missing_without_any_field", "3.2", "GET / HTTP/1.1\r\n\r\n"sv, malformed, Beast::accepts},
    {"missing_beside_url", "3.2.2", "GET http://a/ HTTP/1.1\r\n\r\n"sv, malformed, Beast::accepts},
    {"repeated", "3.2", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"sv, malformed, Beast::accepts},
    {"repeated_equal", "3.2", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"empty", "RFC 9110 4.2.1", "GET / HTTP/1.1\r\nHost: \r\n\r\n"sv, malformed, Beast::accepts},
    {"nul", "3.2", "GET / HTTP/1.1\r\nHost: a\0.b\r\n\r\n"sv, malformed, Beast::refuses},
    {"space", "3.2", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"sv, malformed, Beast::accepts},
    {"tab", "3.2", "GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n"sv, malformed, Beast::accepts},
    {"user", "RFC 9110 4.2.4", "GET / HTTP/1.1\r\nHost: me@a\r\n\r\n"sv, malformed, Beast::accepts},
    {"path", "3.2", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"sv, malformed, Beast::accepts},
    {"backslash", "3.2", "GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n"sv, malformed, Beast::accepts},
    {"list", "3.2", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"sv, malformed, Beast::accepts},
    {"percent", "3.2", "GET / HTTP/1.1\r\nHost: a%00b\r\n\r\n"sv, malformed, Beast::accepts},
    {"high_byte", "3.2", "GET / HTTP/1.1\r\nHost: \xc3\xa4.example\r\n\r\n"sv, malformed, Beast::accepts},
    {"port_alone", "3.2", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n"sv, malformed, Beast::accepts},
    {"port_of_letters", "3.2", "GET / HTTP/1.1\r\nHost: a:http\r\n\r\n"sv, malformed, Beast::accepts},
    {"port_too_large", "3.2", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n"sv, malformed, Beast::accepts},
    {"port_negative", "3.2", "GET / HTTP/1.1\r\nHost: a:-80\r\n\r\n"sv, malformed, Beast::accepts},
    {"two_ports", "3.2", "GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n"sv, malformed, Beast::accepts},
    {"ipv6_without_brackets", "3.2", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n"sv, malformed, Beast::accepts},
    {"ipv6_not_closed", "3.2", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"sv, malformed, Beast::accepts},
    {"ipv6_wrong", "3.2", "GET / HTTP/1.1\r\nHost: [1:2]\r\n\r\n"sv, malformed, Beast::accepts},
    {"ipv6_followed_by_text", "3.2", "GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n"sv, malformed, Beast::accepts},
    {"invalid_in_1_0", "3.2", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n"sv, malformed, Beast::accepts},
    {"other_than_url", "3.2.2", "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n"sv, malformed, Beast::accepts},
    {"other_port_than_url", "3.2.2", "GET http://a/ HTTP/1.1\r\nHost: a:8080\r\n\r\n"sv, malformed, Beast::accepts},
    {"default_port_of_the_other_scheme", "3.2.2", "GET http://a/ HTTP/1.1\r\nHost: a:443\r\n\r\n"sv, malformed,
     Beast::accepts},
    {"user_in_url", "RFC 9110 4.2.4", "GET http://me@a/ HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"empty_in_url", "RFC 9110 4.2.1", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
    {"backslash_in_url", "3.2.2", "GET http://a\\b/ HTTP/1.1\r\nHost: a\r\n\r\n"sv, malformed, Beast::accepts},
};

INSTANTIATE_TEST_SUITE_P(Framing, RequestRule, testing::ValuesIn(framing_rules), case_name);
INSTANTIATE_TEST_SUITE_P(Lines, RequestRule, testing::ValuesIn(line_rules), case_name);
INSTANTIATE_TEST_SUITE_P(StartLine, RequestRule, testing::ValuesIn(start_line_rules), case_name);
INSTANTIATE_TEST_SUITE_P(Host, RequestRule, testing::ValuesIn(host_rules), case_name);

}  // namespace
}  // namespace brink::http
