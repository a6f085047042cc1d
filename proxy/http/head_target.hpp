// The request target and Host: which form the target has, what it names, and whether both agree (RFC 9112 sections 3.2
// and 3.3). Routing decides on these views, so a target that two servers could read as two hosts ends here. Internal to
// proxy/http. Pure, any thread. Each function returns nullptr, or a static sentence saying what is wrong.
#pragma once

#include "proxy/http/head.hpp"

namespace brink::http::detail {

// REQUIRES: head.method_text and head.target are set. Sets path, query and, for the absolute and the authority form,
// authority and host.
const char* split_target(RequestHead& head);

// Holds `host_field` (nullptr: the request has none) against the version and the target; sets authority and host where
// the target names none. REQUIRES: split_target() returned nullptr; head.minor_version is set.
const char* check_host(RequestHead& head, const std::string_view* host_field);

}  // namespace brink::http::detail
