// Takes content codings off a body: of requests that clients send compressed, and of responses that the edge must read.
// Streaming, within limits, and with bounded output a call, so that a bomb costs no more than the limit and the caller
// can hold the sender back. Any bytes are taken. One decoder is one body; one thread; no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/filter/coding.hpp"

namespace brink::filter {

enum class DecodeError : std::uint8_t {
  none,
  malformed,    // 400: broken, cut short, followed by other bytes, or a zstd window above 8 MB (RFC 9659)
  too_large,    // 413: more decoded bytes than the limit
  unsupported,  // 415: a coding other than zstd and gzip, or more than two
  no_memory,    // 503
};
unsigned status_of(DecodeError error);  // of the reply to a request with it; 200 for none

// The codings of a message in the order they were applied, without `identity`.
struct Codings {
  static constexpr std::size_t max = 2;
  std::array<Coding, max> list{};
  std::size_t size = 0;  // 0: the body is not encoded
  DecodeError error = DecodeError::none;

  // One Content-Encoding field value; call it for each field line, in order.
  void add(std::string_view value);
};

class DecoderStage;

class Decoder {
 public:
  static constexpr std::size_t piece = std::size_t{64} * 1024;  // bytes that a call appends at most

  struct Result {
    std::size_t consumed = 0;  // bytes taken from the front of the input
    bool more = false;         // a call's output is full: call again, with what is left of the input (maybe nothing)
    DecodeError error = DecodeError::none;
    const char* what = nullptr;  // a static sentence, with `error`
  };

  // `max_size`: bytes of the decoded body; what passes between two codings may be a little larger.
  // With codings.error, or codings.size 0, every call says unsupported.
  Decoder(const Codings& codings, std::uint64_t max_size);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Appends decoded bytes to `out`. Unless `more` or `error`, all input is consumed. After an error it stays.
  Result decode(std::string_view in, std::string& out);

  // The input has ended. REQUIRES: the last decode() did not say `more`. Malformed if the body is cut short (an empty
  // one is).
  Result finish();

  std::uint64_t size() const { return size_; }  // decoded bytes so far

 private:
  Result fail(DecodeError error, const char* what, std::size_t consumed);
  Result run_stages(std::string_view in, std::span<char> room, std::size_t& written);
  bool fill_between(std::string_view in, Result& result);

  std::array<std::unique_ptr<DecoderStage>, Codings::max> stages_;  // outermost coding first
  std::size_t stage_count_ = 0;
  std::uint64_t max_size_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t between_size_ = 0;  // bytes that passed from the first to the second stage
  std::string between_;             // those of them not yet taken
  std::size_t between_taken_ = 0;
  bool between_full_ = false;  // the first stage may hold more back
  Result failed_;
};

}  // namespace brink::filter
