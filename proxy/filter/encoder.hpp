// Compresses a body piece by piece. One encoder is one body at a time, on one thread; get it from an EncoderPool, which
// reuses what is costly to make. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/filter/coding.hpp"

namespace brink::filter {

inline constexpr int max_level = 19;  // zstd's levels from 20 on need windows that browsers refuse (RFC 9659)

// How a body is to be compressed.
struct EncoderSpec {
  Coding coding = Coding::zstd;  // REQUIRES: not identity
  int level = 3;                 // 1..max_level of zstd, others are clamped; events: 2 at most; gzip: see gzip_level()
  std::optional<std::uint64_t> length = {};  // bytes of the whole body where known; the encoder fails if it is not true
  bool events = false;  // a stream of small pieces, each flushed: little memory instead of a long window
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // Appends to `out` what `in` gives now. `flush`: a streaming decoder then has every byte of the input so far. `last`:
  // the body ends with `in` (which may be empty), and `out` with the end of the frame; encode nothing after it.
  // Output is bounded by that of incompressible input: in.size() + in.size() / 128 + 1024 bytes more than is held back.
  // False: it failed, error() says why; the response cannot be completed.
  bool encode(std::string_view in, bool flush, bool last, std::string& out);

  const char* error() const { return error_; }  // a static sentence; nullptr: none
  bool finished() const { return finished_; }
  Coding coding() const { return coding_; }
  std::size_t memory() const { return measure(); }  // bytes that it holds now

 protected:
  friend class EncoderPool;
  explicit Encoder(Coding coding) : coding_(coding) {}
  // Readies it for another body. False: no memory.
  bool begin(const EncoderSpec& spec);

  virtual bool start(const EncoderSpec& spec) = 0;
  virtual const char* run(std::string_view in, bool flush, bool last, std::string& out) = 0;
  virtual std::size_t measure() const = 0;

 private:
  Coding coding_ = Coding::identity;
  const char* error_ = nullptr;
  bool finished_ = false;
  std::optional<std::uint64_t> left_;
  std::uint8_t kind_ = 0;  // of context, to the pool
  std::size_t kept_bytes_ = 0;
};

// The window (a power of two) that a zstd frame declares: enough for the whole body where its length is known, at most
// 2 MB; 128 KB for a body of unknown length; 8 KB for events. Never more than the 8 MB of RFC 9659.
int window_log(const EncoderSpec& spec);

// zlib's 1..9 for a level on zstd's scale: about as much effort.
int gzip_level(int level);

}  // namespace brink::filter
