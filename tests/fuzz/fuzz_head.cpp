// Feeds any bytes to the head parsers, as a request and as a response. What we accept must be what Beast's own parser
// reads in the same bytes (we are stricter, never different), no prefix of it may count as a head, and what we forward,
// the fields written anew, must mean the same to the next reader.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/head.hpp"
#include "proxy/http/rules.hpp"
#include "tests/fuzz/check.hpp"

namespace {

namespace beast_http = boost::beast::http;
using namespace brink::http;

constexpr Limits limits;

std::string lower(std::string_view text) {
  std::string copy(text);
  for (auto& c : copy) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return copy;
}

// Beast keeps fields of one name together: compare in the order of names, repeats in their own order.
using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

template <class Fields>
NamesAndValues ordered(const Fields& fields, auto name_of, auto value_of) {
  NamesAndValues list;
  for (const auto& field : fields) list.emplace_back(lower(name_of(field)), std::string_view(value_of(field)));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

template <bool is_request, class Head>
void check_against_beast(const Head& head, beast_http::parser<is_request, beast_http::empty_body>& beast) {
  beast.header_limit(static_cast<std::uint32_t>(limits.head));
  beast.body_limit(boost::none);
  boost::beast::error_code ec;
  const auto taken = beast.put(boost::asio::const_buffer(head.raw.data(), head.raw.size()), ec);
  FUZZ_CHECK(!ec);
  FUZZ_CHECK(beast.is_header_done());
  FUZZ_CHECK(taken == head.raw.size());
  FUZZ_CHECK(beast.get().version() == 10u + static_cast<unsigned>(head.minor_version));
  const auto beasts = ordered(
      beast.get().base(), [](const auto& field) { return field.name_string(); },
      [](const auto& field) { return field.value(); });
  const auto ours = ordered(
      head.fields, [](const Field& field) { return field.name; }, [](const Field& field) { return field.value; });
  FUZZ_CHECK(beasts == ours);
  FUZZ_CHECK(beast.content_length().has_value() == head.has_content_length);
  FUZZ_CHECK(beast.content_length().value_or(0) == head.content_length);
  FUZZ_CHECK(head.framing != Framing::chunked || beast.chunked());
}

template <class Head>
std::string rewritten(std::string start_line, const Head& head) {
  for (const auto& field : head.fields) start_line.append(field.name).append(": ").append(field.value).append("\r\n");
  return start_line + "\r\n";
}

template <class Head>
void check_same(const Head& a, const Head& b) {
  FUZZ_CHECK(a.framing == b.framing && a.content_length == b.content_length);
  FUZZ_CHECK(a.keep_alive == b.keep_alive && a.has_upgrade == b.has_upgrade && a.nominates == b.nominates);
  FUZZ_CHECK(a.fields.size() == b.fields.size());
}

void check_limits(std::string_view input, const HeadBase& head) {
  FUZZ_CHECK(head.raw.data() >= input.data() && head.raw.data() + head.raw.size() <= input.data() + input.size());
  FUZZ_CHECK(head.raw.size() <= limits.head && head.fields.size() <= limits.fields);
  for (const auto& field : head.fields) {
    FUZZ_CHECK(is_token(field.name) && is_field_value(field.value));
    FUZZ_CHECK(field.name.data() >= head.raw.data() && field.value.data() > field.name.data());
    FUZZ_CHECK(field.value.data() + field.value.size() <= head.raw.data() + head.raw.size());
  }
}

void check_result(std::string_view input, const ParseResult& result) {
  FUZZ_CHECK(result.size <= input.size());
  FUZZ_CHECK((result.error != HeadError::ok) == (*result.what != '\0'));
  FUZZ_CHECK(result.error == HeadError::ok || result.size == 0);
  FUZZ_CHECK(result.error != HeadError::ok || result.size != 0 || input.size() < limits.head + 4);
}

// All prefixes of a short head, some of a long one.
void check_prefixes(std::size_t size, auto parse_prefix) {
  for (std::size_t prefix = 0; prefix < size; prefix += 1 + size / 256) {
    const ParseResult result = parse_prefix(prefix);
    FUZZ_CHECK(result.error == HeadError::ok && result.size == 0);
  }
}

void fuzz_request(std::string_view input) {
  RequestHead head, again;
  const auto result = parse_request(input, limits, head);
  check_result(input, result);
  if (result.size == 0) return;
  check_limits(input, head);

  beast_http::request_parser<beast_http::empty_body> beast;
  check_against_beast<true>(head, beast);
  FUZZ_CHECK(std::string_view(beast.get().method_string()) == head.method_text);
  FUZZ_CHECK(std::string_view(beast.get().target()) == head.target);
  // One reader's request without a body must not be another's with one.
  FUZZ_CHECK(beast.chunked() == (head.framing == Framing::chunked));

  check_prefixes(result.size, [&](std::size_t size) { return parse_request(input.substr(0, size), limits, again); });
  const auto text = rewritten(std::string(head.raw.substr(0, head.raw.find('\n') + 1)), head);
  const Limits wide{.head = 2 * limits.head, .fields = limits.fields, .target = limits.target};
  FUZZ_CHECK(parse_request(text, wide, again).size == text.size());
  check_same(head, again);
  FUZZ_CHECK(head.host == again.host && head.path == again.path && head.expect_continue == again.expect_continue);
}

void fuzz_response(std::string_view input, bool head_request) {
  ResponseHead head, again;
  const auto result = parse_response(input, limits, head_request, head);
  check_result(input, result);
  if (result.size == 0) return;
  check_limits(input, head);

  beast_http::response_parser<beast_http::empty_body> beast;
  check_against_beast<false>(head, beast);
  FUZZ_CHECK(beast.get().result_int() == head.status);
  // Beast answers with the usual phrase where there is none.
  FUZZ_CHECK(head.reason.empty() || std::string_view(beast.get().reason()) == head.reason);
  if (!head_request) {
    FUZZ_CHECK(beast.need_eof() == (head.framing == Framing::until_close));
  } else {
    FUZZ_CHECK(head.framing == Framing::none);
  }

  check_prefixes(result.size,
                 [&](std::size_t size) { return parse_response(input.substr(0, size), limits, head_request, again); });
  const auto text = rewritten(std::string(head.raw.substr(0, head.raw.find('\n') + 1)), head);
  const Limits wide{.head = 2 * limits.head, .fields = limits.fields, .target = limits.target};
  FUZZ_CHECK(parse_response(text, wide, head_request, again).size == text.size());
  check_same(head, again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz_request(input);
  fuzz_response(input, false);
  fuzz_response(input, true);
  return 0;
}
