// Feeds any bytes to the chunked reader: whole, left in place, and cut at points drawn from the input itself. All three
// must say the same; and a message we accept must be the same message, of the same size, to Beast's parser.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "proxy/http/chunked.hpp"
#include "tests/fuzz/check.hpp"

namespace {

namespace beast_http = boost::beast::http;
using brink::http::ChunkedReader;

struct Decoded {
  std::string content;
  std::string trailers;
  std::size_t size = 0;  // of the message
  bool done = false;
  std::string error;
};

// `next_size` gives the size of the next piece, at least 1.
Decoded decode(std::string_view input, bool in_place, auto next_size) {
  ChunkedReader reader;
  Decoded out;
  while (!input.empty() && !out.done && out.error.empty()) {
    const auto piece_size = std::min<std::size_t>(next_size(), input.size());
    std::string piece(input.substr(0, piece_size));
    const auto result =
        in_place ? reader.decode_in_place(piece.data(), piece_size) : reader.decode(piece.data(), piece_size);
    FUZZ_CHECK(result.consumed <= piece_size && result.offset + result.decoded <= result.consumed);
    FUZZ_CHECK(result.done || result.error != nullptr || result.consumed == piece_size);
    FUZZ_CHECK(piece.substr(result.consumed) == input.substr(result.consumed, piece_size - result.consumed));
    out.content += piece.substr(result.offset, result.decoded);
    out.size += result.consumed;
    out.done = result.done;
    out.error = result.error != nullptr ? result.error : "";
    input.remove_prefix(result.consumed);
  }
  if (out.done) out.trailers = reader.trailers();
  return out;
}

void check_same(const Decoded& a, const Decoded& b) {
  FUZZ_CHECK(a.done == b.done);
  FUZZ_CHECK(a.error == b.error);
  FUZZ_CHECK(a.content == b.content);
  FUZZ_CHECK(a.trailers == b.trailers);
  FUZZ_CHECK(!a.done || a.size == b.size);
}

void check_against_beast(std::string_view input, const Decoded& ours) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto message = head + std::string(input.substr(0, ours.size));
  beast_http::request_parser<beast_http::string_body> beast;
  beast.body_limit(boost::none);
  beast.eager(true);
  boost::beast::error_code ec;
  const auto taken = beast.put(boost::asio::const_buffer(message.data(), message.size()), ec);
  FUZZ_CHECK(!ec);
  FUZZ_CHECK(beast.is_done());
  FUZZ_CHECK(taken == message.size());
  FUZZ_CHECK(beast.get().body() == ours.content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto whole = decode(input, false, [&] { return size; });
  check_same(whole, decode(input, true, [&] { return size; }));
  check_same(whole, decode(input, false, [] { return std::size_t{1}; }));

  std::minstd_rand random(static_cast<unsigned>(std::hash<std::string_view>{}(input)));
  for (int round = 0; round < 4; ++round) {
    check_same(whole, decode(input, round % 2 == 1, [&] { return 1 + random() % 40; }));
  }
  if (whole.done) check_against_beast(input, whole);
  return 0;
}
