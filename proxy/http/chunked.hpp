// The chunked transfer coding (RFC 9112 section 7.1), read strictly and in place. No I/O, no allocation but for
// trailers. One reader a message at a time (reset() between two); one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brink::http {

class ChunkedReader {
 public:
  static constexpr std::size_t max_line = 256;       // bytes of a chunk-size line with its extensions and CRLF
  static constexpr std::size_t max_trailers = 8192;  // bytes of the trailer section
  // Bytes by which the extensions of a message may outweigh its content: a sender of one-byte chunks with long
  // extensions costs much and delivers nothing.
  static constexpr std::size_t max_excess = 16384;

  struct Result {
    std::size_t consumed = 0;     // raw bytes taken from the front of the input
    std::size_t decoded = 0;      // bytes of content now at the front of the buffer, contiguous
    bool done = false;            // the last chunk and the trailer section are complete
    const char* error = nullptr;  // a static sentence; the connection cannot be used further
    std::size_t offset = 0;       // where the content begins; 0 but from decode_in_place()
  };

  // Decodes buffer[0, size): moves the content together at the front of `buffer` (chunk heads are squeezed out), so
  // that one write passes it on. Takes all it can: consumed < size only after done or error (an incomplete size line is
  // kept inside the reader). Bytes after the end of the message are left at buffer + consumed, unmoved. After done or
  // an error, further calls take nothing and say the same.
  Result decode(char* buffer, std::size_t size);

  // As decode(), but leaves the first piece of content where it stands, at buffer + offset, and moves only the later
  // ones up to it: nothing is moved when the input holds the data of one chunk.
  Result decode_in_place(char* buffer, std::size_t size);

  // The trailer section's field lines, each with its CRLF, without the final empty line; framing, routing and
  // hop-by-hop fields are an error (RFC 9110 section 6.5.1). Valid once done, until reset().
  std::string_view trailers() const { return trailers_; }
  void reset();

 private:
  enum class State : std::uint8_t { size_line, data, data_end, trailer, done, failed };

  void read_size_line(std::string_view& input);
  void take_size_line(std::string_view line);
  void read_data_end(std::string_view& input);
  void read_trailer(std::string_view& input);
  void fail(const char* what);

  State state_ = State::size_line;
  bool cr_seen_ = false;         // in data_end: the CR after the data is there
  std::uint16_t line_size_ = 0;  // of a size line that is not complete
  std::uint64_t remaining_ = 0;  // content bytes of this chunk still to come
  std::uint64_t excess_ = 0;
  std::size_t trailer_line_ = 0;  // where the current line begins in trailers_
  const char* error_ = nullptr;
  std::array<char, max_line> line_;
  std::string trailers_;
};

// Appends the line that stands before a chunk of `size` bytes (RFC 9112 section 7.1). REQUIRES: size > 0: a
// chunk without bytes is the last one.
void append_chunk_size(std::string& out, std::size_t size);

}  // namespace brink::http
