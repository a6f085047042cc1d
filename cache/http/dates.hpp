// HTTP dates, RFC 9110 section 5.6.7: the three formats are read, IMF-fixdate is written. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cache/entry.hpp"

namespace brink::cache::http {

using DateTime = std::chrono::sys_seconds;

// Nothing unless the text is a real date in one of the formats; case and the name of the day do not matter, the zone
// must be GMT (RFC 9111 section 4.2). `now` tells the century of a two-digit year: not more than 50 years ahead.
std::optional<DateTime> parse_date(std::string_view text, WallTime now);

std::string format_date(WallTime time);

}  // namespace brink::cache::http
