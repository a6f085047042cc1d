// Shell wildcards for model names: `*` is any run of bytes, also empty and also across '/', `?` is exactly one byte.
// Everything else stands for itself. Takes pattern size times text size at most, no allocation.
#pragma once

#include <string_view>

namespace brink::router {

bool matches_wildcard(std::string_view pattern, std::string_view text);

}  // namespace brink::router
