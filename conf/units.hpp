// Turns durations, sizes and rates as people write them into numbers. Pure functions, any thread.
// Each returns nothing when the text is not of that form or does not fit; the caller knows which units to name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace brink::conf {

std::optional<std::int64_t> parse_integer(std::string_view text);   // decimal digits only
std::optional<std::int64_t> parse_duration(std::string_view text);  // `250ms 2s 30m 24h` → milliseconds
std::optional<std::int64_t> parse_size(std::string_view text);      // `4096 512B 64KiB 16MiB 1GiB` → bytes
std::optional<double> parse_rate(std::string_view text);            // `100/s 600/m` → per second
std::optional<double> parse_share(std::string_view text);           // `20% 99.5%` → of 1, at most two decimals

// The shortest form of the same value that parse_duration or parse_size reads back.
std::string format_duration(std::int64_t milliseconds);
std::string format_size(std::int64_t bytes);

}  // namespace brink::conf
