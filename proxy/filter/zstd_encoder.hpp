// zstd behind Encoder. Internal to proxy/filter; use an EncoderPool.
#pragma once

#include <memory>

#include "proxy/filter/encoder.hpp"

namespace brink::filter {

std::unique_ptr<Encoder> make_zstd_encoder();  // nullptr: no memory

}  // namespace brink::filter
