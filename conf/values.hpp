// One scalar of a file: from its text to the number, address or checked text that its key wants, and back to how the
// effective configuration shows it. Pure functions, any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conf/schema.hpp"

namespace brink::conf {

// Fills the fields of `value` that `key.kind` uses, from `value.text`. Returns what is wrong as the rest of a sentence
// about the text, without repeating it, or empty. REQUIRES: a scalar kind, or the element of a list or mapping of
// texts.
std::string convert(const Key& key, Value& value);

// "1 to 256 or `auto`", "1ms to 24h": what a key's value may be.
std::string range_text(const Key& key);

// The entries of the default of a list, `[a, b]`. REQUIRES: a fallback.
std::vector<std::string> default_list(const Key& key);

// As the effective configuration shows it: numbers and booleans as such, passwords masked, all else as written.
nlohmann::ordered_json show(const Key& key, const std::string& raw);

}  // namespace brink::conf
