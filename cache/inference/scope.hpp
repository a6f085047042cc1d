// Whose answers a request may share. Callers with different credentials never see each other's answers, unless the
// route says that all may share. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cache/entry.hpp"

namespace brink::cache::inference {

// SHA-256, 64 hexadecimal digits, over names and values of the fields that may carry a credential, as the *client* sent
// them (before the proxy puts the backend's key in their place): Authorization, Proxy-Authorization, api-key,
// x-api-key, x-goog-api-key, ocp-apim-subscription-key, Cookie, and the names in `more` (lower case), such as the field
// in which a proxy in front tells the user. Cookies count whole, because a session may be all that tells two users
// apart: one that changes costs hits, never a leak. Requests without any of them have one scope of their own. The order
// of different fields does not matter, the order of values of one field does.
std::string scope_digest(std::span<const Field> fields, std::span<const std::string_view> more = {});

}  // namespace brink::cache::inference
