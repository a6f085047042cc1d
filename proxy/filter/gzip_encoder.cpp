#include "proxy/filter/gzip_encoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace brink::filter {

namespace {

constexpr int gzip_wrapper = 16;  // added to zlib's window bits

class GzipEncoder final : public Encoder {
 public:
  explicit GzipEncoder(bool events)
      : Encoder(Coding::gzip), window_bits_(events ? 13 : 15), memory_level_(events ? 5 : 8) {}
  ~GzipEncoder() override {
    if (ready_) deflateEnd(&stream_);
  }

  bool open() {
    ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits_ + gzip_wrapper, memory_level_,
                          Z_DEFAULT_STRATEGY) == Z_OK;
    return ready_;
  }

 private:
  bool start(const EncoderSpec& spec) override {
    return deflateReset(&stream_) == Z_OK &&
           deflateParams(&stream_, gzip_level(spec.level), Z_DEFAULT_STRATEGY) == Z_OK;
  }

  const char* run(std::string_view in, bool flush, bool last, std::string& out) override {
    do {
      const auto part = in.substr(0, std::numeric_limits<uInt>::max());
      in.remove_prefix(part.size());
      const auto mode = !in.empty() ? Z_NO_FLUSH : last ? Z_FINISH : flush ? Z_SYNC_FLUSH : Z_NO_FLUSH;
      if (!deflate_part(part, mode, out)) return "zlib failed to compress";
    } while (!in.empty());
    return nullptr;
  }

  bool deflate_part(std::string_view part, int mode, std::string& out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(part.size());
    const auto step = std::clamp(part.size() / 2, least_room, most_room);
    int result = Z_OK;
    do {
      const auto before = out.size();
      out.resize(before + step);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(step);
      result = deflate(&stream_, mode);
      out.resize(before + step - stream_.avail_out);
      // No progress was possible: all had been flushed before.
      if (result == Z_BUF_ERROR) return mode != Z_FINISH;
      if (result != Z_OK && result != Z_STREAM_END) return false;
    } while (result != Z_STREAM_END && (stream_.avail_out == 0 || mode == Z_FINISH));
    return true;
  }

  // deflateInit2's own formula in zconf.h, and its state.
  std::size_t measure() const override {
    constexpr std::size_t state = 6 * 1024;
    return sizeof *this + state + (std::size_t{1} << (window_bits_ + 2)) + (std::size_t{1} << (memory_level_ + 9));
  }

  // Room that a flush certainly does not fill to the last byte: zlib may else repeat the flush marker.
  static constexpr std::size_t least_room = 512;
  static constexpr std::size_t most_room = std::size_t{64} * 1024;
  z_stream stream_{};
  bool ready_ = false;
  int window_bits_;
  int memory_level_;
};

}  // namespace

std::unique_ptr<Encoder> make_gzip_encoder(bool events) {
  auto encoder = std::make_unique<GzipEncoder>(events);
  if (!encoder->open()) return nullptr;
  return encoder;
}

}  // namespace brink::filter
