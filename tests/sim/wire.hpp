// Answers as bytes of HTTP/1.1 (RFC 9112). Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/net.hpp"

namespace brink::sim {

// What the request's head says about the shape of its answer.
struct AnswerShape {
  bool chunked = true;  // false for HTTP/1.0: a stream then ends with the connection
  bool keep_alive = true;
  bool head_only = false;
  std::string request_id = {};  // echoed; empty: none
};

// A complete head, with the blank line; without a length it is of a stream.
std::string answer_head(std::string_view node, const AnswerShape& shape, const Reply& reply,
                        std::optional<std::size_t> content_length);

// One chunk. REQUIRES: data is not empty, an empty chunk would be the last.
std::string chunk(std::string_view data);

constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace brink::sim
