// Feeds a chunked message to the reader in pieces, as a socket would, and gathers what comes out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/chunked.hpp"

namespace brink::http {

struct Decoded {
  std::string content;
  std::string trailers;
  std::string left;  // input after the end of the message
  bool done = false;
  std::string error;
};

// Feeds `input` in pieces that end at `cuts` (ascending), each in a buffer of its own as a socket would.
inline Decoded decode(std::string_view input, const std::vector<std::size_t>& cuts = {}, bool in_place = false) {
  ChunkedReader reader;
  Decoded out;
  std::size_t begin = 0;
  for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
    const auto end = piece < cuts.size() ? cuts[piece] : input.size();
    std::string buffer(input.substr(begin, end - begin));
    const auto result =
        in_place ? reader.decode_in_place(buffer.data(), buffer.size()) : reader.decode(buffer.data(), buffer.size());
    out.content += buffer.substr(result.offset, result.decoded);
    out.done = result.done;
    out.error = result.error != nullptr ? result.error : "";
    if (result.done || result.error != nullptr) {
      out.left = std::string(input.substr(begin + result.consumed));
      break;
    }
    EXPECT_EQ(result.consumed, buffer.size());
    begin = end;
  }
  out.trailers = reader.trailers();
  return out;
}

// Cuts between all bytes.
inline std::vector<std::size_t> cut_everywhere(std::string_view input) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < input.size(); ++i) cuts.push_back(i);
  return cuts;
}

}  // namespace brink::http
