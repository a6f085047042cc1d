// A response made at the edge. The only place where an error becomes a response.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/errors.hpp"

namespace brink::http {

struct LocalReply {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // content-length and connection are the session's
  std::string body;
};

// OpenAI's error shape: {"error":{"message","type","param","code"}}. `detail` is added to the kind's sentence.
LocalReply error_reply(ErrorKind kind, std::string_view detail = {});

// Appends `text` to `out` as the inside of a JSON string (RFC 8259 section 7). Bytes that are not UTF-8 become U+FFFD.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace brink::http
