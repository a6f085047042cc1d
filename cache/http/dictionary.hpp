// Structured Fields dictionaries, RFC 9651 section 3.2, as far as targeted cache control needs them: which members
// there are and what the simple ones hold. Strict: anything the grammar does not allow makes the whole field invalid.
// Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

struct DictionaryMember {
  enum class Kind : std::uint8_t { yes, no, integer, string, other };  // yes and no: the two booleans
  std::string name;
  Kind kind = Kind::yes;
  std::string text;  // the digits of an integer, the characters of a string
};

// Nothing when a line of `name` breaks the grammar; no members when the field is empty or absent. Of a repeated name
// the last value is kept, in the place of the first.
std::optional<std::vector<DictionaryMember>> parse_dictionary(Fields fields, std::string_view name);

}  // namespace brink::cache::http
