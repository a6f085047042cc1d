#include "proxy/filter/compress_whole.hpp"

#include "proxy/filter/encoder_pool.hpp"

namespace brink::filter {

std::string compress_whole(std::string_view body, int level, EncoderPool* pool) {
  if (pool == nullptr) {
    EncoderPool own;
    return compress_whole(body, level, &own);
  }
  const auto encoder = pool->get({.coding = Coding::zstd, .level = level, .length = body.size()});
  std::string frame;
  if (!encoder || !encoder->encode(body, false, true, frame)) return {};
  if (frame.size() > body.size() - body.size() / 10) return {};
  frame.shrink_to_fit();
  return frame;
}

}  // namespace brink::filter
