#include <zlib.h>

#include <algorithm>
#include <limits>

#include "proxy/filter/decoder_stage.hpp"

namespace brink::filter {

namespace {

constexpr int gzip_only = 15 + 16;  // the largest window, and zlib's sign for the gzip format

// Members one after another (RFC 1952 section 2.2).
class GzipDecoder final : public DecoderStage {
 public:
  GzipDecoder() = default;
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override {
    if (ready_) inflateEnd(&stream_);
  }

  bool open() {
    ready_ = inflateInit2(&stream_, gzip_only) == Z_OK;
    return ready_;
  }

  Step step(std::string_view in, char* room, std::size_t size) override {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    Step done;
    while (done.written < size) {
      if (at_boundary_) {
        if (done.consumed == in.size()) break;
        inflateReset(&stream_);
        at_boundary_ = false;
      }
      const auto part = in.substr(done.consumed, most);
      const auto space = std::min(size - done.written, most);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib does not write to it
      stream_.avail_in = static_cast<uInt>(part.size());
      stream_.next_out = reinterpret_cast<Bytef*>(room + done.written);
      stream_.avail_out = static_cast<uInt>(space);
      const auto result = inflate(&stream_, Z_NO_FLUSH);
      done.consumed += part.size() - stream_.avail_in;
      done.written += space - stream_.avail_out;
      if (result == Z_BUF_ERROR && stream_.avail_in == 0) break;  // it wants more input
      if (result == Z_STREAM_END) {
        at_boundary_ = true;
        seen_ = true;
      } else if (result != Z_OK) {
        done.error = result == Z_MEM_ERROR ? DecodeError::no_memory : DecodeError::malformed;
        done.what = result == Z_MEM_ERROR ? "no memory to decompress" : "a broken gzip member";
        return done;
      }
    }
    return done;
  }

  bool complete() const override { return seen_ && at_boundary_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
  bool at_boundary_ = true;
  bool seen_ = false;
};

}  // namespace

std::unique_ptr<DecoderStage> make_gzip_decoder() {
  auto decoder = std::make_unique<GzipDecoder>();
  if (!decoder->open()) return nullptr;
  return decoder;
}

}  // namespace brink::filter
