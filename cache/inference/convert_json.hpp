// What both directions of convert.hpp share: trees of JSON. For sources of this folder only: it is costly to include.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "cache/inference/endpoint.hpp"
#include "cache/inference/json_reader.hpp"

namespace brink::cache::inference {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_members = 1024;  // of one object

// Discarded, if it is no JSON object or beyond what a tree may cost: an ordered object is searched member by member,
// and writing it recurses.
inline Json parse_object(std::string_view text) {
  JsonReader reader(text, {.depth = 64, .members = max_members, .huge_integers = false});
  if (reader.peek() != JsonReader::Kind::object || !reader.skip() || !reader.done())
    return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

inline std::string_view plain_object(Endpoint endpoint) {
  return endpoint == Endpoint::chat ? "chat.completion" : "text_completion";
}
inline std::string_view event_object(Endpoint endpoint) {
  return endpoint == Endpoint::chat ? "chat.completion.chunk" : "text_completion";
}

}  // namespace brink::cache::inference
