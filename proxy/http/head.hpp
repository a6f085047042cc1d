// Parses a request or response head in place: Beast's basic_parser walks the bytes, we record where each field stands
// in the receive buffer, and then hold the head to the framing rules of an edge, which are stricter than Beast's (1.81
// accepts several requests that smuggle a second one, see docs/framing.md). No allocation a field. One thread at a
// time.
//
// The views in a head point into the caller's buffer and are valid while that buffer stands still.
#pragma once

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace brink::http {

using FieldId = boost::beast::http::field;

struct Field {
  FieldId id = FieldId::unknown;  // `unknown` for names Beast does not list
  std::string_view name;          // as sent
  std::string_view value;         // without surrounding white space
};

struct Limits {
  std::size_t head = std::size_t{32} * 1024;  // bytes, start line included
  std::size_t fields = 100;
  std::size_t target = std::size_t{8} * 1024;
};

// How the body is delimited on the wire (RFC 9112 section 6).
enum class Framing : std::uint8_t { none, length, chunked, until_close };

// What is wrong with a head; target_too_long and unknown_coding are of requests only.
enum class HeadError : std::uint8_t {
  ok,
  malformed,        // 400
  head_too_large,   // 431
  too_many_fields,  // 431
  target_too_long,  // 414
  bad_version,      // 505 (HTTP/2.x and other major versions; 400 for what is no version at all)
  unknown_coding,   // 501 (a transfer coding other than exactly one `chunked`)
};

// The status of the reply to a request with this error; 502 is the answer to any error of a response.
constexpr unsigned status_of(HeadError error) {
  switch (error) {
    case HeadError::ok:
      return 200;
    case HeadError::malformed:
      return 400;
    case HeadError::head_too_large:
    case HeadError::too_many_fields:
      return 431;
    case HeadError::target_too_long:
      return 414;
    case HeadError::bad_version:
      return 505;
    case HeadError::unknown_coding:
      return 501;
  }
  return 400;
}

// What the generic head knows of connection management, from `Connection` and the version (RFC 9112 section 9.3).
struct HeadBase {
  std::vector<Field> fields;  // in order; capacity is kept between messages
  std::string_view raw;       // the head from its start line to its final empty line
  int minor_version = 1;      // HTTP/1.x
  bool keep_alive = true;     // the sender keeps the connection open after this message
  bool has_upgrade = false;   // `Connection: upgrade` together with an Upgrade field, HTTP/1.1 only
  bool nominates = false;     // `Connection` names fields that are not hop-by-hop anyway; see nominated()
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;  // with Framing::length; also of a HEAD response, for information
  bool has_content_length = false;

  const Field* find(FieldId id) const;             // the first one; nullptr if absent
  const Field* find(std::string_view name) const;  // case-insensitive
  bool nominated(std::string_view name) const;     // a `Connection` field names it: not to be forwarded
};

struct RequestHead : HeadBase {
  boost::beast::http::verb method = boost::beast::http::verb::unknown;
  std::string_view method_text;
  std::string_view target;     // as sent
  std::string_view path;       // of the target, without query; "*" for OPTIONS *; absolute form: its path, "/" if empty
  std::string_view query;      // with its '?', or empty
  std::string_view authority;  // Host, or of an absolute-form target (both must agree): host[:port], checked for
                               // syntax; of CONNECT its target; empty only in HTTP/1.0 without Host
  std::string_view host;       // authority without port and, for IPv6, with brackets; case as sent
  bool expect_continue = false;  // HTTP/1.1 with `Expect: 100-continue`
  bool bad_expect = false;       // any other expectation: 417 (RFC 9110 section 10.1.1)
};

struct ResponseHead : HeadBase {
  unsigned status = 0;  // 100..599 (others are malformed)
  std::string_view reason;
};

struct ParseResult {
  HeadError error = HeadError::ok;
  std::size_t size = 0;   // bytes of the head; 0: incomplete, give more bytes
  const char* what = "";  // a static sentence for the log and the 400's message, with `error`
};

// Parses from the first byte of `bytes`. Leading empty lines (CRLF, at most two) before a request are part of its head
// (RFC 9112 section 2.2). An incomplete head longer than limits.head is head_too_large (or target_too_long while the
// request line is what is too long). A broken start line or line ending is reported before the head is complete.
// CONNECT is parsed with its authority-form target and an empty path; whether to serve it is the caller's decision.
ParseResult parse_request(std::string_view bytes, const Limits& limits, RequestHead& head);

// `head_request`: the response answers a HEAD, so it has no body whatever it says. 1xx, 204 and 304 have none either
// (RFC 9112 section 6.3); a Transfer-Encoding on 1xx or 204, a length on 1xx, and a length other than 0 on 204 are
// malformed. What is wrong with a response is never unknown_coding: there is nobody to tell, so all of it is malformed.
ParseResult parse_response(std::string_view bytes, const Limits& limits, bool head_request, ResponseHead& head);

}  // namespace brink::http
