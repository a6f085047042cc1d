// The paths of the admin API that are about the cache. For admin.cpp.
#pragma once

#include <string_view>

#include "proxy/admin/admin.hpp"

namespace brink::admin {

http::LocalReply show_cache(const Sources& sources);
http::LocalReply do_purge(const Sources& sources, std::string_view body);

}  // namespace brink::admin
