// A stored body as one zstd frame: what the cache keeps beside it, and what a client that accepts zstd gets as it is.
#pragma once

#include <string>
#include <string_view>

namespace brink::filter {

class EncoderPool;

// One frame that declares its content's size and a window of at most 2 MB, without checksum. Empty when it would save
// less than a tenth of the bytes, or there is no memory. `pool`: the calling worker's, spares making a context;
// nullptr: makes one for this call, from any thread.
std::string compress_whole(std::string_view body, int level = 3, EncoderPool* pool = nullptr);

}  // namespace brink::filter
