// One content coding taken off, piece by piece: zstd or gzip. Internal to proxy/filter; use Decoder.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "proxy/filter/coding.hpp"
#include "proxy/filter/decoder.hpp"

namespace brink::filter {

class DecoderStage {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::size_t written = 0;
    DecodeError error = DecodeError::none;
    const char* what = nullptr;
  };

  virtual ~DecoderStage() = default;

  // Decodes into room[0, size), until the input is used up or the room is full. REQUIRES: size > 0. With the room full,
  // bytes may be held back: step() again, with an empty input if all was consumed.
  virtual Step step(std::string_view in, char* room, std::size_t size) = 0;
  // At least one member or frame was read, and the last one to its end.
  virtual bool complete() const = 0;
};

std::unique_ptr<DecoderStage> make_zstd_decoder();  // nullptr: no memory
std::unique_ptr<DecoderStage> make_gzip_decoder();

}  // namespace brink::filter
