// Who may use the admin API, judged by what a browser cannot forge: the Host and Origin fields. Pure functions.
//
// A page of any site can send requests to a loopback address. Its own name, pointed at that address (DNS rebinding),
// would stand in Host; a form or script of another site would name that site in Origin (RFC 6454 section 7).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"

namespace brink::admin {

// Why the request is refused, a sentence for the client; nothing if it may pass. `listen_host` is the configured host.
std::optional<std::string> refusal(const http::RequestHead& request, std::string_view listen_host);

}  // namespace brink::admin
