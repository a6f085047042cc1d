// The version of this tree; CMake passes the project's.
#pragma once

#include <string_view>

namespace brink {
inline constexpr std::string_view version = BRINK_VERSION;
}
