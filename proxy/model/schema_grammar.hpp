// Turns a JSON Schema into a GBNF grammar, so that a model can write nothing but an instance of it. What the grammar
// cannot hold to is refused, never dropped: an answer that is promised to fit a schema must fit.
//
// Understood: type (also a list of types), properties, required, additionalProperties, items, minItems, maxItems,
// minLength, maxLength, enum, const, anyOf, $ref to "#/$defs/..." or "#/definitions/...". Annotations (title,
// description, default, examples, ...) change nothing. Properties are written in the schema's order, and no others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace brink::model {

// A grammar for any JSON object (`response_format: {"type": "json_object"}`).
std::string json_object_grammar();

// Throws ApiError with `param` about what is not understood, as in `response_format.json_schema.schema.properties.a`.
std::string schema_grammar(const nlohmann::ordered_json& schema, const std::string& param);

}  // namespace brink::model
