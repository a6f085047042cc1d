// The chunked transfer coding (RFC 9112 section 7.1), read strictly and in place. No I/O, no allocation but for trailers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brink::http {

class ChunkedReader {
 public:
  static constexpr std::size_t max_line = 256;       // bytes of a chunk-size line with its extensions
  static constexpr std::size_t max_trailers = 8192;  // bytes of the trailer section

  struct Result {
    std::size_t consumed = 0;   // raw bytes taken from the front of the input
    std::size_t decoded = 0;    // bytes of content now at the front of the buffer, contiguous
    bool done = false;          // the last chunk and the trailer section are complete
    const char* error = nullptr;  // a static sentence; the connection cannot be used further
  };

  // Decodes buffer[0, size): moves the content together at the front of `buffer` (chunk heads are squeezed out), so that one
  // write passes it on. Takes all it can: consumed < size only after done or error (an incomplete size line is kept inside
  // the reader). Bytes after the end of the message are left at buffer + consumed, unmoved.
  Result decode(char* buffer, std::size_t size);

  // The trailer section's field lines, each with its CRLF, without the final empty line; framing, routing and hop-by-hop
  // fields are an error (RFC 9110 section 6.5.1). Valid once done.
  std::string_view trailers() const { return trailers_; }
  void reset();

 private:
  std::string trailers_;
};

}  // namespace brink::http
