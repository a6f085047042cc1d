// Reading header fields: names without regard to case, several lines of one name as one list, lists with quoted parts.
// Pure functions on views, callable from any thread; what they return views the text that was passed in.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/entry.hpp"

namespace brink::cache::http {

using Fields = std::span<const Field>;

char lower(char c);
std::string lower(std::string_view text);
bool same_text(std::string_view a, std::string_view b);  // ASCII, case-insensitive: names of fields, tokens
std::string_view trim(std::string_view text);            // spaces and tabs off both ends
bool is_token_char(char c);                              // RFC 9110 section 5.6.2

bool contains(Fields fields, std::string_view name);
std::optional<std::string_view> first_value(Fields fields, std::string_view name);
bool is_repeated(Fields fields, std::string_view name);

// Calls `visit` with each member of the comma-separated list that all lines of `name` make, trimmed. A comma inside a
// quoted string separates nothing; an unterminated quote ends with its line. Empty members are left out
// (section 5.6.1).
void for_each_member(std::string_view list, const std::function<void(std::string_view)>& visit);
void for_each_member(Fields fields, std::string_view name, const std::function<void(std::string_view)>& visit);

// Digits only, as RFC 9111 section 1.2.2 wants of delta-seconds: nothing else is taken, and what does not fit in 31
// bits is 2^31 seconds.
std::optional<Duration> parse_delta_seconds(std::string_view digits);

}  // namespace brink::cache::http
