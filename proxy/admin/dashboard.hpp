// The page at `/` of the admin listener: self-contained, reads the other paths with scripts of its own.
#pragma once

#include <string_view>

namespace brink::admin {

std::string_view dashboard_page();  // HTML, lives for ever

}  // namespace brink::admin
