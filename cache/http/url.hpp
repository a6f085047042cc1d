// URLs as the cache names them: http://host/path?query. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace brink::cache::http {

// The host in lower case, a port left out where it is the scheme's own, an empty path as "/"; path and query are kept
// exactly, for only the origin knows what in them is the same. `target` is in origin-form, or absolute-form, whose path
// and query then count (RFC 9112 section 3.2).
std::string normal_url(std::string_view scheme, std::string_view host, std::string_view target);

// The URL that `reference` (of Location or Content-Location) means as seen from `base`, a normal URL (RFC 3986
// section 5.2), as a normal URL without fragment. Empty when it has another origin or cannot be read.
std::string resolve_same_origin(std::string_view base, std::string_view reference);

}  // namespace brink::cache::http
