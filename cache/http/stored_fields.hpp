// Which field lines of a response are stored: RFC 9111 section 3.1. Any thread.
#pragma once

#include <string>
#include <vector>

#include "cache/http/cache_control.hpp"
#include "cache/http/messages.hpp"

namespace brink::cache::http {

// Fields of one connection, by name alone: Connection, Keep-Alive, Transfer-Encoding, Upgrade, the Proxy- ones and so
// on.
bool is_hop_by_hop(std::string_view name);

// The fields that may be kept, in their order: without those of the connection (also the ones that Connection names),
// of framing, Age, and those that `withheld` (lower case) names. Nothing stays that could break a head: a line whose
// name or value holds a control character is left out.
std::vector<Field> storable_fields(Fields response, const std::vector<std::string>& withheld);

// The head of an Entry, each line "name: value\r\n". A response without a Date gets the time of its arrival (RFC 9110
// section 6.6.1).
std::string stored_head(const Response& response, const ResponseDirectives& directives);
std::string head_text(Fields fields);

// Tags that a purge can name, from Surrogate-Key and Cache-Tag: separated by spaces or commas; sorted, each once.
std::vector<std::string> response_tags(Fields response);

}  // namespace brink::cache::http
