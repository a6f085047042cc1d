#include "proxy/http/head_framing.hpp"

#include "proxy/http/rules.hpp"

namespace brink::http {

namespace {

// Servers that hand fields on as environment variables (CGI, WSGI) read `_` and `-` as one.
bool reads_as_framing(std::string_view name) {
  constexpr std::string_view length = "content_length", coding = "transfer_encoding";
  if (name.size() != length.size() && name.size() != coding.size()) return false;
  if (name.find('_') == name.npos) return false;
  const auto same = [name](std::string_view other) {
    for (std::size_t i = 0; i < other.size(); ++i) {
      const char c = name[i] == '-' ? '_' : static_cast<char>(name[i] | (name[i] == '_' ? 0 : 0x20));
      if (c != other[i]) return false;
    }
    return true;
  };
  return name.size() == length.size() ? same(length) : same(coding);
}

}  // namespace

const char* FramingRules::note(const Field& field, HeadBase& head) {
  switch (field.id) {
    case FieldId::content_length:
      return note_length(field.value, head);
    case FieldId::transfer_encoding:
      return note_coding(field.value);
    case FieldId::connection:
      return note_connection(field.value, head);
    case FieldId::host:
      return note_host(field.value);
    case FieldId::upgrade:
      upgrade_field_ = upgrade_field_ || !field.value.empty();
      return nullptr;
    case FieldId::expect:
      note_expect(field.value);
      return nullptr;
    case FieldId::unknown:
      return reads_as_framing(field.name) ? "a field name reads as Content-Length or Transfer-Encoding" : nullptr;
    default:
      return nullptr;
  }
}

// RFC 9112 section 6.3 lets a recipient fold equal repeats into one; an edge does not guess which one was meant.
const char* FramingRules::note_length(std::string_view value, HeadBase& head) {
  if (head.has_content_length) return "Content-Length is repeated";
  const auto length = parse_length(value);
  if (!length) return "Content-Length is not one decimal number below 2^63";
  head.has_content_length = true;
  head.content_length = *length;
  return nullptr;
}

const char* FramingRules::note_coding(std::string_view value) {
  if (has_coding_) return "Transfer-Encoding is repeated";
  has_coding_ = true;
  if (iequals(value, "chunked")) return nullptr;

  bool chunked = false;
  for (ListCursor cursor{value}; cursor.more;) {
    const auto element = cursor.next();
    const auto name = trim(element.substr(0, element.find(';')));
    if (!is_token(name)) return "Transfer-Encoding is no list of codings";
    if (!iequals(name, "chunked")) {
      foreign_coding_ = true;
      continue;
    }
    if (chunked) return "Transfer-Encoding applies chunked twice";
    if (name.size() != element.size()) return "chunked takes no parameters";
    chunked = true;
  }
  return nullptr;
}

const char* FramingRules::note_connection(std::string_view value, HeadBase& head) {
  for (ListCursor cursor{value}; cursor.more;) {
    const auto option = cursor.next();
    if (iequals(option, "close")) {
      close_ = true;
    } else if (iequals(option, "keep-alive")) {
      keep_alive_ = true;
    } else if (iequals(option, "upgrade")) {
      upgrade_option_ = true;
    } else if (!may_be_nominated(option)) {
      return "Connection names a field that is meant for the last recipient";
    } else if (!option.empty() && !is_hop_by_hop(boost::beast::http::string_to_field(option))) {
      head.nominates = true;
    }
  }
  return nullptr;
}

const char* FramingRules::note_host(std::string_view value) {
  if (has_host_) return "Host is repeated";
  has_host_ = true;
  host_ = value;
  return nullptr;
}

void FramingRules::note_expect(std::string_view value) {
  for (ListCursor cursor{value}; cursor.more;) {
    const auto expectation = cursor.next();
    if (iequals(expectation, "100-continue")) {
      expect_continue_ = true;
    } else if (!expectation.empty()) {
      bad_expect_ = true;
    }
  }
}

const char* FramingRules::check_coding(const HeadBase& head) const {
  if (!has_coding_) return nullptr;
  if (head.has_content_length) return "Transfer-Encoding and Content-Length stand side by side";
  if (head.minor_version == 0) return "HTTP/1.0 has no Transfer-Encoding";
  return nullptr;
}

void FramingRules::finish_connection(HeadBase& head) const {
  head.keep_alive = !close_ && (head.minor_version == 1 || keep_alive_);
  head.has_upgrade = upgrade_option_ && upgrade_field_ && head.minor_version == 1;
}

FramingRules::Verdict FramingRules::finish_request(RequestHead& head) const {
  if (const auto* what = check_coding(head)) return {HeadError::malformed, what};
  if (foreign_coding_) return {HeadError::unknown_coding, "the only transfer coding taken here is chunked"};
  finish_connection(head);
  head.expect_continue = expect_continue_ && head.minor_version == 1;
  head.bad_expect = bad_expect_;
  if (has_coding_) {
    head.framing = Framing::chunked;
  } else if (head.content_length > 0) {
    head.framing = Framing::length;
  }
  return {};
}

const char* FramingRules::finish_response(ResponseHead& head, bool head_request) const {
  if (const auto* what = check_coding(head)) return what;
  if (foreign_coding_) return "the response has a transfer coding other than chunked";
  const bool interim = head.status < 200;
  if ((interim || head.status == 204) && has_coding_) return "a 1xx or 204 response has Transfer-Encoding";
  if (interim && head.has_content_length) return "a 1xx response has Content-Length";
  if (head.status == 204 && head.content_length != 0) return "a 204 response has a Content-Length other than 0";

  finish_connection(head);
  if (head_request || interim || head.status == 204 || head.status == 304) {
    head.framing = Framing::none;
  } else if (has_coding_) {
    head.framing = Framing::chunked;
  } else if (head.has_content_length) {
    head.framing = head.content_length > 0 ? Framing::length : Framing::none;
  } else {
    head.framing = Framing::until_close;
    head.keep_alive = false;
  }
  return nullptr;
}

}  // namespace brink::http
