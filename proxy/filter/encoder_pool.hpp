// The compression contexts of a worker. Making one costs more than compressing a small body, so those given back are
// kept, up to a bound in bytes. At level 3 a context takes, in KB: zstd 86 for events, 43 for a body of 1 KB, 540 for
// 20 KB, 1700 for one of unknown length, 3500 for megabytes; gzip 54 for events, 262 for bodies. Not thread-safe: one
// pool a worker. Handles must not outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/filter/encoder.hpp"

namespace brink::filter {

class EncoderPool {
 public:
  struct Limits {
    std::size_t max_lent = 4096;                          // at one time; then get() gives none
    std::size_t max_kept = std::size_t{8} * 1024 * 1024;  // bytes of idle contexts
  };
  struct Stats {
    std::uint64_t made = 0;
    std::uint64_t reused = 0;
    std::uint64_t refused = 0;  // max_lent, or no memory
    std::size_t lent = 0;       // handles
    std::size_t kept = 0;       // idle contexts
    std::size_t kept_bytes = 0;
  };
  struct GiveBack {
    EncoderPool* pool = nullptr;
    void operator()(Encoder* encoder) const;
  };
  using Handle = std::unique_ptr<Encoder, GiveBack>;

  EncoderPool() = default;
  explicit EncoderPool(const Limits& limits) : limits_(limits) {}
  EncoderPool(const EncoderPool&) = delete;
  EncoderPool& operator=(const EncoderPool&) = delete;

  // An encoder ready for one body, given back by its handle's end, whether the body was finished or not. Empty: none
  // can be had now; send the body as it is.
  Handle get(const EncoderSpec& spec);

  const Stats& stats() const { return stats_; }

 private:
  // Contexts of a kind need about the same memory, so that one made for large bodies is not kept busy by events.
  enum Kind : std::uint8_t { zstd_events, zstd_small, zstd_large, zstd_unknown, gzip_events, gzip_bodies, kinds };
  static Kind kind_of(const EncoderSpec& spec);
  void take_back(Encoder* encoder);

  Limits limits_;
  Stats stats_;
  std::array<std::vector<std::unique_ptr<Encoder>>, kinds> idle_;
};

}  // namespace brink::filter
