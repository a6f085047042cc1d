// Conditional requests, RFC 9110 section 13: those of clients, answered from a stored response, and those that a cache
// makes to validate one. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/http/messages.hpp"

namespace brink::cache::http {

// Weak comparison, RFC 9110 section 8.8.3.2. Entity-tags that break the grammar are compared as they are.
bool same_weakly(std::string_view a, std::string_view b);
bool same_strongly(std::string_view a, std::string_view b);

// The client has the stored response already: answer 304. Only GET and HEAD, and only of a stored 200 (RFC 9111 section
// 4.3.2); If-Modified-Since counts where there is no If-None-Match, against Last-Modified or else Date.
bool is_not_modified(const Request& request, const Entry& entry, WallTime now);

// A field of the stored response goes into a 304 (RFC 9110 section 15.4.5): what describes the body stays out.
bool belongs_in_304(std::string_view name, const Entry& entry);

// A field of the client's request that is left out of one that is to fill the cache: the origin must answer with the
// whole response, the client's conditions and ranges are then answered from it.
bool is_left_out_of_fill(std::string_view name);

// What a validation adds to the request; views into `entry`. None when it holds no validator: the request goes
// unconditional. Any condition of the client's is to be left out (is_left_out_of_fill).
std::vector<Field> validation_fields(const Entry& entry);

}  // namespace brink::cache::http
