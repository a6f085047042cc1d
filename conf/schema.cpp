// The JSON Schema made from the key table.
#include "conf/schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conf/load.hpp"
#include "conf/units.hpp"
#include "conf/values.hpp"

namespace brink::conf {
namespace {

using Json = nlohmann::ordered_json;

Json block_schema(const Block& block);

// A text of the given form, or one with a placeholder in it, whose value the schema cannot know.
Json pattern(const std::string& form) { return {{"type", "string"}, {"pattern", "^(" + form + ")$|\\$\\{"}}; }

// Tools of YAML 1.1 read `off` as false.
Json choice_schema(const Key& key) {
  Json choices = key.choices;
  if (std::find(key.choices.begin(), key.choices.end(), "off") != key.choices.end()) choices.push_back(false);
  for (std::string_view choice : key.choices) {
    if (const auto number = parse_integer(choice)) choices.push_back(*number);  // as YAML reads a plain 503
  }
  return {{"enum", std::move(choices)}};
}

Json scalar_schema(const Key& key) {
  switch (key.kind) {
    case Kind::integer: {
      Json either = Json::array();
      either.push_back({{"type", "integer"}, {"minimum", key.min}, {"maximum", key.max}});
      if (!key.word.empty()) either.push_back({{"const", key.word}});
      either.push_back({{"type", "string"}, {"pattern", "\\$\\{"}});
      return {{"anyOf", either}};
    }
    case Kind::duration:
      return pattern("[0-9]+(ms|s|m|h)");
    case Kind::size: {
      Json either = Json::array();
      either.push_back({{"type", "integer"}, {"minimum", key.min}, {"maximum", key.max}});
      either.push_back(pattern("[0-9]+(B|KiB|MiB|GiB)?"));
      return {{"anyOf", either}};
    }
    case Kind::rate:
      return pattern("[0-9]+/[sm]");
    case Kind::share:
      return pattern("[0-9]+(\\.[0-9]{1,2})?%" + (key.word.empty() ? "" : "|" + std::string(key.word)));
    case Kind::boolean: {
      Json either = Json::array();
      either.push_back({{"type", "boolean"}});
      either.push_back({{"type", "string"}, {"pattern", "\\$\\{"}});
      return {{"anyOf", either}};
    }
    case Kind::choice:
      return choice_schema(key);
    case Kind::address:
      return pattern(".*:[0-9]+");
    case Kind::url:
      return pattern("(http://|unix:///).+");
    default:
      return {{"type", "string"}};
  }
}

Json list_schema(const Key& key, Json items) {
  Json schema{{"type", "array"}, {"items", std::move(items)}, {"maxItems", key.max_items}};
  if (!key.may_be_empty) schema["minItems"] = 1;
  return schema;
}

Json map_schema(const Key& key, Json values) {
  Json schema{{"type", "object"}, {"additionalProperties", std::move(values)}, {"maxProperties", key.max_items}};
  if (!key.may_be_empty) schema["minProperties"] = 1;
  return schema;
}

Json value_schema(const Key& key) {
  switch (key.kind) {
    case Kind::block: {
      Json schema = block_schema(*key.block);
      if (key.word.empty()) return schema;
      Json either = Json::array();
      either.push_back({{"enum", {key.word, false}}});  // tools of YAML 1.1 read `off` as false
      either.push_back(std::move(schema));
      return {{"anyOf", either}};
    }
    case Kind::blocks:
      return list_schema(key, block_schema(*key.block));
    case Kind::named_blocks:
      return map_schema(key, block_schema(*key.block));
    case Kind::texts:
      return list_schema(key, {{"type", "string"}});
    case Kind::some_choices: {
      Json schema = list_schema(key, choice_schema(key));
      schema["uniqueItems"] = true;
      return schema;
    }
    case Kind::headers:
      return map_schema(key, {{"type", Json::array({"string", "number", "boolean"})}});
    default:
      return scalar_schema(key);
  }
}

Json key_schema(const Key& key) {
  Json schema{{"description", key.doc}};
  schema.update(value_schema(key));
  if (key.kind == Kind::duration || key.kind == Kind::share || (key.kind == Kind::integer && !key.word.empty()) ||
      key.kind == Kind::size) {
    schema["description"] = std::string(key.doc) + " (" + range_text(key) + ")";
  }
  const bool has_value = key.kind != Kind::block && key.kind != Kind::texts && key.kind != Kind::headers;
  if (key.fallback != nullptr && has_value) {
    schema["default"] = key.kind == Kind::some_choices ? Json(default_list(key)) : Json(show(key, key.fallback));
  }
  return schema;
}

Json block_schema(const Block& block) {
  Json properties = Json::object(), required = Json::array(), choice = Json::array();
  for (const Key& key : block.keys) {
    if (key.kind == Kind::later) continue;
    properties[std::string(key.name)] = key_schema(key);
    if (key.required) required.push_back(key.name);
  }
  Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  for (std::string_view key : block.one_of) choice.push_back({{"required", Json::array({key})}});
  if (!choice.empty()) schema["oneOf"] = std::move(choice);
  if (!block.at_most_one.empty()) schema["not"] = {{"required", block.at_most_one}};
  return schema;
}

}  // namespace

std::string json_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Brink configuration file"}};
  schema.update(block_schema(root_block()));
  return schema.dump(2) + "\n";
}

}  // namespace brink::conf
