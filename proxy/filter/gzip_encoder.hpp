// zlib behind Encoder. Internal to proxy/filter; use an EncoderPool.
#pragma once

#include <memory>

#include "proxy/filter/encoder.hpp"

namespace brink::filter {

// `events`: a context with little memory, for bodies whose spec says so. nullptr: no memory.
std::unique_ptr<Encoder> make_gzip_encoder(bool events);

}  // namespace brink::filter
