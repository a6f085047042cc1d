// Which stored responses a change at the origin makes worthless: RFC 9111 section 4.4. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "cache/http/messages.hpp"

namespace brink::cache::http {

// Methods that change nothing (RFC 9110 section 9.2.1, and of the IANA registry); any other may.
bool is_safe(std::string_view method);

// The URLs, each once and in normal form, whose stored responses (all variants) are to be dropped: of a successful
// unsafe request its own and those that Location and Content-Location name on the same origin. None after an error.
// To be done before the response goes to the client, who may ask again at once, and before may_store() of the response.
std::vector<std::string> invalidated_urls(const Request& request, const Response& response);

}  // namespace brink::cache::http
