// The first look at a head: where its lines end. Beast would take a line that continues the one before (obs-fold) and
// find out late that a head has no end; this pass, a memchr a line, settles both before any byte is interpreted.
// Internal to proxy/http. Pure, any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/http/head.hpp"

namespace brink::http::detail {

struct HeadLines {
  std::size_t start_line = 0;  // bytes of the first line with its CRLF; 0: not complete
  std::size_t size = 0;        // bytes up to and with the empty line; 0: not complete
  HeadError error = HeadError::ok;
  const char* what = "";
};

// Every line must end in CRLF (RFC 9112 section 2.2), no line after the first may start with white space (sections 2.2
// and 5.2), and at most `max_fields` lines may stand between the first one and the empty one.
HeadLines scan_lines(std::string_view bytes, std::size_t max_fields);

}  // namespace brink::http::detail
