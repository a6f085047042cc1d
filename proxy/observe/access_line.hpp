// Formats an exchange as one line of the access log, without allocation and without iostreams.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/http/exchange.hpp"

namespace brink::observe {

// An upper bound of what write_access_line needs for this exchange.
std::size_t access_line_bound(const http::Exchange& exchange);

// Writes the line with its '\n' at `out` and returns its end. `time` is RFC 3339; `now` is when the exchange ended.
// REQUIRES: access_line_bound(exchange) bytes at `out`. `scratch` is used for text that needs escapes.
char* write_access_line(char* out, const http::Exchange& exchange, std::string_view time, router::Time now,
                        std::string& scratch);

// Whether a query parameter's value is likely to be a credential, judged by its name (percent-encoding is seen
// through).
bool is_secret_parameter(std::string_view name);

}  // namespace brink::observe
