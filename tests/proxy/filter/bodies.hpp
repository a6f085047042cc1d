// Bodies to compress, and judges of what comes out that share no code with the edge: the libraries' own streaming
// decoders.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/filter/coding.hpp"

namespace brink::filter {

inline std::string event(unsigned n) {
  static constexpr std::array words = {" the", " edge", " stores", " what", " it",
                                       " has", " seen", " before", ",",     " and"};
  return "data: {\"id\":\"chatcmpl-9f2c\",\"object\":\"chat.completion.chunk\",\"created\":1718000000,\"model\":\"m\","
         "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" +
         std::string(words[(n * 7 + n / 3) % words.size()]) + "\"},\"finish_reason\":null}]}\n\n";
}

inline std::string json_list(std::size_t size) {
  std::string out = "[";
  for (unsigned i = 0; out.size() < size; ++i) {
    out += "{\"id\":" + std::to_string(i * 7919) + ",\"name\":\"model-" + std::to_string(i) + "\",\"ready\":true},";
  }
  out.resize(size);
  return out;
}

inline std::string noise(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string out(size, '\0');
  for (auto& c : out) c = static_cast<char>(random());
  return out;
}

// Decodes as bytes arrive, as a browser does.
class Judge {
 public:
  explicit Judge(Coding coding) : coding_(coding), zstd_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    EXPECT_EQ(inflateInit2(&gzip_, 15 + 16), Z_OK);
  }
  ~Judge() { inflateEnd(&gzip_); }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // What these bytes make known.
  std::string feed(std::string_view in) {
    if (in.empty()) return {};
    return coding_ == Coding::zstd ? feed_zstd(in) : feed_gzip(in);
  }
  bool ended() const { return ended_; }

 private:
  std::string feed_zstd(std::string_view in) {
    std::string out, room(1 << 16, '\0');
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    while (true) {
      ZSTD_outBuffer output{room.data(), room.size(), 0};
      const auto left = ZSTD_decompressStream(zstd_.get(), &output, &input);
      if (ZSTD_isError(left) != 0) {
        ADD_FAILURE() << ZSTD_getErrorName(left);
        return out;
      }
      out.append(room, 0, output.pos);
      if (left == 0) ended_ = true;
      if (ended_ || (input.pos == input.size && output.pos < output.size)) break;
    }
    EXPECT_EQ(input.pos, input.size) << "bytes after the end";
    return out;
  }

  std::string feed_gzip(std::string_view in) {
    std::string out, room(1 << 16, '\0');
    gzip_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    gzip_.avail_in = static_cast<uInt>(in.size());
    int result = Z_OK;
    do {
      gzip_.next_out = reinterpret_cast<Bytef*>(room.data());
      gzip_.avail_out = static_cast<uInt>(room.size());
      result = inflate(&gzip_, Z_NO_FLUSH);
      EXPECT_TRUE(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) << result;
      out.append(room, 0, room.size() - gzip_.avail_out);
    } while (result == Z_OK && gzip_.avail_out == 0);
    if (result == Z_STREAM_END) ended_ = true;
    EXPECT_EQ(gzip_.avail_in, 0U) << "bytes after the end";
    return out;
  }

  Coding coding_;
  bool ended_ = false;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_;
  z_stream gzip_{};
};

// The window that the header of a zstd frame asks of a decoder (RFC 8878 section 3.1.1.1), in bytes.
inline std::uint64_t declared_window(std::string_view frame) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(frame.at(i))); };
  const auto descriptor = byte(4);
  const bool single_segment = (descriptor & 0x20) != 0;
  if (!single_segment) {
    const auto base = std::uint64_t{1} << (10 + (byte(5) >> 3));
    return base + base / 8 * (byte(5) & 7);
  }
  static constexpr std::array<std::size_t, 4> dictionary_id = {0, 1, 2, 4};
  const auto at = 5 + dictionary_id[descriptor & 3];
  switch (descriptor >> 6) {
    case 0:
      return byte(at);
    case 1:
      return (byte(at) | byte(at + 1) << 8) + 256;
    case 2:
      return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
    default:
      return ~std::uint64_t{0};
  }
}

}  // namespace brink::filter
