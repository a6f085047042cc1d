// Which request fields chose a response, and what they said: RFC 9111 section 4.1. Any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

// The names in all Vary fields: lower case, sorted, each once. Nothing when one of them is `*` (no other request ever
// matches).
std::optional<std::vector<std::string>> vary_names(Fields response);

// The secondary key: what the request says in the fields of `names` (as vary_names() returns them), so that equal text
// means that a stored response was selected by the same fields. Lines of one field are joined, white space at commas
// goes; of Accept-Encoding and Accept-Language also case, order and a quality of 1 go, none of which means anything
// there (RFC 9110 section 12.5). Every part has its length before it: no value can imitate two. An absent field is not
// an empty one.
std::string vary_key(std::span<const std::string> names, Fields request);

}  // namespace brink::cache::http
