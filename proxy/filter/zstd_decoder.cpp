#include <zstd.h>
#include <zstd_errors.h>

#include "proxy/filter/decoder_stage.hpp"

namespace brink::filter {

namespace {

constexpr int max_window_log = 23;  // RFC 9659: 8 MB

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Frames one after another, skippable ones among them (RFC 8878 section 3.1).
class ZstdDecoder final : public DecoderStage {
 public:
  explicit ZstdDecoder(ZSTD_DCtx* context) : context_(context) {}

  Step step(std::string_view in, char* room, std::size_t size) override {
    Step done;
    bool held_back = full_;  // the library counts calls that move nothing, and fails after sixteen
    while (done.written < size && (done.consumed < in.size() || held_back)) {
      held_back = false;
      if (at_boundary_ && done.consumed == in.size()) break;
      if (!check_magic(in.substr(done.consumed))) return fail(done, DecodeError::malformed, "not a zstd frame");
      ZSTD_inBuffer input{in.data(), in.size(), done.consumed};
      ZSTD_outBuffer output{room, size, done.written};
      const auto left = ZSTD_decompressStream(context_.get(), &output, &input);
      frame_bytes_ += input.pos - done.consumed;
      const bool stuck = input.pos == done.consumed && output.pos == done.written && input.pos < in.size();
      done.consumed = input.pos;
      done.written = output.pos;
      if (ZSTD_isError(left) != 0) return fail(done, left);
      at_boundary_ = left == 0;
      if (at_boundary_) {
        frame_bytes_ = 0;
        seen_ = true;
      }
      if (stuck) return fail(done, DecodeError::malformed, "a broken zstd frame");
    }
    full_ = done.written == size;
    return done;
  }

  bool complete() const override { return seen_ && at_boundary_; }

 private:
  static constexpr std::size_t magic_size = 4;

  // The library would also read formats older than the RFC, with decoders of their own.
  bool check_magic(std::string_view in) const {
    static constexpr unsigned char frame[magic_size] = {0x28, 0xb5, 0x2f, 0xfd};
    static constexpr unsigned char skippable[magic_size] = {0x50, 0x2a, 0x4d, 0x18};  // the first: 0x50..0x5f
    for (std::size_t i = 0; i < in.size() && frame_bytes_ + i < magic_size; ++i) {
      const auto at = frame_bytes_ + i;
      const auto byte = static_cast<unsigned char>(in[i]);
      const auto masked = at == 0 && (byte & 0xf0) == 0x50 ? 0x50 : byte;
      if (byte != frame[at] && masked != skippable[at]) return false;
    }
    return true;
  }

  static Step fail(Step done, DecodeError error, const char* what) {
    done.error = error;
    done.what = what;
    return done;
  }
  static Step fail(Step done, std::size_t code) {
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_memory_allocation:
        return fail(done, DecodeError::no_memory, "no memory to decompress");
      case ZSTD_error_frameParameter_windowTooLarge:
        return fail(done, DecodeError::malformed, "a zstd window larger than 8 MB");
      case ZSTD_error_dictionary_wrong:
        return fail(done, DecodeError::malformed, "a zstd frame that needs a dictionary");
      case ZSTD_error_checksum_wrong:
        return fail(done, DecodeError::malformed, "a zstd checksum does not match");
      default:
        return fail(done, DecodeError::malformed, "a broken zstd frame");
    }
  }

  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::size_t frame_bytes_ = 0;  // of the current frame so far
  bool at_boundary_ = true;
  bool full_ = false;  // the room was full: there may be more
  bool seen_ = false;
};

}  // namespace

std::unique_ptr<DecoderStage> make_zstd_decoder() {
  std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context || ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, max_window_log)) != 0) {
    return nullptr;
  }
  return std::make_unique<ZstdDecoder>(context.release());
}

}  // namespace brink::filter
