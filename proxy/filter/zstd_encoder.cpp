#include "proxy/filter/zstd_encoder.hpp"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

namespace brink::filter {

namespace {

constexpr int max_events_level = 2;
constexpr int events_table_log = 11;
constexpr int first_level_of_large_tables = 4;  // larger than the window of a body of unknown length needs

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

class ZstdEncoder final : public Encoder {
 public:
  explicit ZstdEncoder(ZSTD_CCtx* context) : Encoder(Coding::zstd), context_(context) {}

 private:
  bool start(const EncoderSpec& spec) override {
    auto* c = context_.get();
    const auto set = [c](ZSTD_cParameter parameter, int value) {
      return ZSTD_isError(ZSTD_CCtx_setParameter(c, parameter, value)) == 0;
    };
    unstarted_ = true;
    return ZSTD_isError(ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters)) == 0 &&
           set(ZSTD_c_compressionLevel, std::clamp(spec.level, 1, max_level)) &&
           set(ZSTD_c_windowLog, window_log(spec)) && set(ZSTD_c_checksumFlag, 0) && limit_tables(spec, set) &&
           (!spec.length || ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(c, *spec.length)) == 0) && warm_up(spec);
  }

  // The library fits its tables to a length it knows, but not to a window. Events repeat what the ones just before
  // said: larger tables and deeper searches cost memory and time there, and find no more.
  template <typename Set>
  static bool limit_tables(const EncoderSpec& spec, const Set& set) {
    if (spec.length) return true;
    if (spec.events) {
      return set(ZSTD_c_compressionLevel, std::clamp(spec.level, 1, max_events_level)) &&
             set(ZSTD_c_hashLog, events_table_log) && set(ZSTD_c_chainLog, events_table_log);
    }
    if (spec.level < first_level_of_large_tables) return true;
    return set(ZSTD_c_hashLog, window_log(spec) + 1) && set(ZSTD_c_chainLog, window_log(spec));
  }

  // The library takes its memory at the first call. A stream takes it now, so that a lack of it is told before the
  // response's head has gone out.
  bool warm_up(const EncoderSpec& spec) {
    if (spec.length) return true;
    ZSTD_inBuffer in{nullptr, 0, 0};
    ZSTD_outBuffer none{nullptr, 0, 0};
    return ZSTD_isError(ZSTD_compressStream2(context_.get(), &none, &in, ZSTD_e_continue)) == 0;
  }

  const char* run(std::string_view in, bool flush, bool last, std::string& out) override {
    const auto mode = last ? ZSTD_e_end : flush ? ZSTD_e_flush : ZSTD_e_continue;
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    // A body given at once is compressed in one pass without the library's own buffers, given room for the worst case.
    const auto step =
        unstarted_ && last ? ZSTD_compressBound(in.size()) : std::clamp(in.size() / 2, least_room, most_room);
    unstarted_ = false;
    for (;;) {
      const auto before = out.size();
      out.resize(before + step);
      ZSTD_outBuffer output{out.data() + before, step, 0};
      const auto left = ZSTD_compressStream2(context_.get(), &output, &input, mode);
      out.resize(before + output.pos);
      if (ZSTD_isError(left) != 0) {
        return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? "no memory to compress"
                                                                       : "zstd failed to compress";
      }
      if (mode == ZSTD_e_continue ? input.pos == input.size && output.pos < output.size : left == 0) return nullptr;
    }
  }

  std::size_t measure() const override { return ZSTD_sizeof_CCtx(context_.get()); }

  static constexpr std::size_t least_room = 512;
  static constexpr std::size_t most_room = std::size_t{64} * 1024;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  bool unstarted_ = true;
};

}  // namespace

std::unique_ptr<Encoder> make_zstd_encoder() {
  std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) return nullptr;
  return std::make_unique<ZstdEncoder>(context.release());
}

}  // namespace brink::filter
