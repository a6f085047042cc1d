#include "proxy/http/head.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <string>
#include <utility>

#include "proxy/http/head_framing.hpp"
#include "proxy/http/head_scan.hpp"
#include "proxy/http/head_target.hpp"
#include "proxy/http/rules.hpp"

namespace brink::http {

namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using BeastView = boost::beast::string_view;

// A method longer than any registered one by far, the spaces, the version and CRLF around a target.
constexpr std::size_t max_method = 64;
constexpr std::size_t request_line_slack = max_method + 12;

// Beast's walk over the head; each callback records, and the first rule of ours that is broken stops the walk. Beast's
// own reading of the framing is not used: it ends with the header, and FramingRules decides.
template <bool is_request>
class HeadParser final : public beast_http::basic_parser<is_request> {
 public:
  using Head = std::conditional_t<is_request, RequestHead, ResponseHead>;

  HeadParser(Head& head, const Limits& limits) : head_(head), limits_(limits) {
    this->eager(false);
    this->body_limit(boost::none);
  }

  const ParseResult& failure() const { return failure_; }
  const FramingRules& rules() const { return rules_; }

 private:
  void fail(HeadError error, const char* what, error_code& ec) {
    failure_ = {error, 0, what};
    ec = beast_http::error::bad_field;
  }

  void on_request_impl(beast_http::verb method, BeastView method_text, BeastView target, int version,
                       error_code& ec) override {
    if constexpr (is_request) {
      head_.method = method;
      head_.method_text = method_text;
      head_.target = target;
      head_.minor_version = version % 10;
      if (method_text.size() > max_method) return fail(HeadError::malformed, "the method is too long", ec);
      if (target.size() > limits_.target) {
        return fail(HeadError::target_too_long, "the request target is longer than the limit", ec);
      }
      if (const auto* what = detail::split_target(head_)) return fail(HeadError::malformed, what, ec);
    }
  }

  void on_response_impl(int status, BeastView reason, int version, error_code& ec) override {
    if constexpr (!is_request) {
      head_.status = static_cast<unsigned>(status);
      head_.reason = reason;
      head_.minor_version = version % 10;
      if (status < 100 || status > 599) return fail(HeadError::malformed, "the status is not in 100..599", ec);
    }
  }

  void on_field_impl(FieldId id, BeastView name, BeastView value, error_code& ec) override {
    const auto& field = head_.fields.emplace_back(Field{id, name, value});
    if (const auto* what = rules_.note(field, head_)) fail(HeadError::malformed, what, ec);
  }

  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastView, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, BeastView, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  Head& head_;
  const Limits& limits_;
  FramingRules rules_;
  ParseResult failure_;
};

// Beast knows 1.0 and 1.1 and calls all else a bad version; a well-formed version of another number gets a 505, what
// is no version (or the never written HTTP/0.x) a 400 (RFC 9110 section 15.6.6).
ParseResult explain_version(std::string_view start_line, bool is_request) {
  start_line.remove_suffix(2);
  auto version = start_line.substr(0, start_line.find(' '));
  if (is_request) {
    const auto target_end = start_line.find(' ', version.size() + 1);
    version = start_line.substr(target_end + 1);  // Beast has seen both spaces
  }
  const auto digit = [&](std::size_t at) { return version[at] >= '0' && version[at] <= '9'; };
  const bool well_formed =
      version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.' && digit(5) && digit(7);
  if (well_formed && version[5] != '0')
    return {HeadError::bad_version, 0, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
  return {HeadError::malformed, 0, "the start line has no valid HTTP version"};
}

ParseResult explain(const error_code& ec) {
  const auto say = [](const char* what) { return ParseResult{HeadError::malformed, 0, what}; };
  switch (static_cast<beast_http::error>(ec.value())) {
    case beast_http::error::bad_method:
      return say("the request does not start with a method and one space");
    case beast_http::error::bad_target:
      return say("the request line is not `method target version`");
    case beast_http::error::bad_status:
      return say("the status is not three digits and a space");
    case beast_http::error::bad_reason:
      return say("the reason phrase has a control character");
    case beast_http::error::bad_field:
      return say("a field name is empty, is no token, or is not followed by `:`");
    case beast_http::error::bad_value:
      return say("a field value has a control character, or Connection is no list of tokens");
    case beast_http::error::bad_line_ending:
      return say("a line holds CR without LF");
    case beast_http::error::bad_content_length:
      return say("Content-Length is no decimal number or stands beside Transfer-Encoding");
    case beast_http::error::multiple_content_length:
      return say("Content-Length is repeated");
    case beast_http::error::bad_transfer_encoding:
      return say("Transfer-Encoding is repeated or stands beside Content-Length");
    default:
      return say("the head is malformed");
  }
}

template <bool is_request>
ParseResult parse_start_and_fields(HeadParser<is_request>& parser, std::string_view bytes,
                                   const detail::HeadLines& lines) {
  error_code ec;
  const auto taken = parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  if (parser.failure().error != HeadError::ok) return parser.failure();
  if (ec == beast_http::error::need_more && lines.size == 0) return {};
  if (ec == beast_http::error::bad_version) {
    // Half a version may look like another one: wait for the rest of the line.
    return lines.start_line == 0 ? ParseResult{} : explain_version(bytes.substr(0, lines.start_line), is_request);
  }
  if (ec) return explain(ec);
  // Both passes must see the same end, or what follows would be read as something else.
  if (taken != lines.size) return {HeadError::malformed, 0, "the end of the head is ambiguous"};
  return {HeadError::ok, taken, ""};
}

// Empties the head of the message before, but keeps the room its fields took.
template <class Head>
void clear(Head& head) {
  auto fields = std::move(head.fields);
  fields.clear();
  head = Head{};
  head.fields = std::move(fields);
}

template <bool is_request>
ParseResult parse(HeadParser<is_request>& parser, std::string_view bytes, const Limits& limits) {
  const auto window = bytes.substr(0, limits.head);
  const auto lines = detail::scan_lines(window, limits.fields);
  const auto start_line = lines.start_line != 0 ? lines.start_line : window.size();
  const bool full = lines.size == 0 && bytes.size() >= limits.head;
  if (is_request && (start_line > limits.target + request_line_slack || (full && lines.start_line == 0))) {
    return {HeadError::target_too_long, 0, "the request line is longer than the limit"};
  }
  if (lines.error != HeadError::ok) return {lines.error, 0, lines.what};
  if (full) return {HeadError::head_too_large, 0, "the head is larger than the limit"};
  return parse_start_and_fields(parser, window.substr(0, lines.size != 0 ? lines.size : start_line), lines);
}

}  // namespace

const Field* HeadBase::find(FieldId id) const {
  for (const auto& field : fields) {
    if (field.id == id) return &field;
  }
  return nullptr;
}

const Field* HeadBase::find(std::string_view name) const {
  for (const auto& field : fields) {
    if (iequals(field.name, name)) return &field;
  }
  return nullptr;
}

bool HeadBase::nominated(std::string_view name) const {
  for (const auto& field : fields) {
    if (field.id == FieldId::connection && list_has(field.value, name)) return true;
  }
  return false;
}

ParseResult parse_request(std::string_view bytes, const Limits& limits, RequestHead& head) {
  clear(head);
  std::size_t skipped = 0;
  while (skipped < 4 && bytes.substr(skipped).starts_with("\r\n")) skipped += 2;
  bytes.remove_prefix(skipped);
  if (bytes.empty() || bytes == "\r") return {};

  HeadParser<true> parser(head, limits);
  auto result = parse(parser, bytes, limits);
  if (result.size == 0) return result;
  if (const auto verdict = parser.rules().finish_request(head); verdict.error != HeadError::ok) {
    return {verdict.error, 0, verdict.what};
  }
  if (const auto* what = detail::check_host(head, parser.rules().host())) return {HeadError::malformed, 0, what};
  head.raw = bytes.substr(0, result.size);
  result.size += skipped;
  return result;
}

ParseResult parse_response(std::string_view bytes, const Limits& limits, bool head_request, ResponseHead& head) {
  clear(head);
  if (bytes.empty()) return {};
  HeadParser<false> parser(head, limits);
  const auto result = parse(parser, bytes, limits);
  if (result.size == 0) return result;
  if (const auto* what = parser.rules().finish_response(head, head_request)) return {HeadError::malformed, 0, what};
  head.raw = bytes.substr(0, result.size);
  return result;
}

}  // namespace brink::http
