// One row a rule: the bytes, what the parser must say to them, and what Beast's own parser says. Shared by the request
// and the response tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"

namespace brink::http {

// Beast 1.81 alone, limits aside; `refuses` includes that it waits for more. Where it accepts, ours is the only check.
enum class Beast { refuses, accepts };

struct HeadCase {
  const char* name;     // the test's name: letters, digits and _
  const char* section;  // where the rule stands; RFC 9112 unless said otherwise
  std::string_view bytes;
  HeadError error;
  Beast alone;
};

template <bool is_request>
Beast beast_alone(std::string_view bytes) {
  boost::beast::http::parser<is_request, boost::beast::http::empty_body> parser;
  parser.body_limit(boost::none);
  boost::beast::error_code ec;
  parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  return !ec && parser.is_header_done() ? Beast::accepts : Beast::refuses;
}

inline void PrintTo(const HeadCase& row, std::ostream* out) { *out << row.name << " (" << row.section << ")"; }

inline std::string case_name(const testing::TestParamInfo<HeadCase>& info) { return info.param.name; }

}  // namespace brink::http
