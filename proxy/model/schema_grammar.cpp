#include "proxy/model/schema_grammar.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "proxy/model/api_error.hpp"

namespace brink::model {

namespace {

using Json = nlohmann::ordered_json;

constexpr int max_depth = 32;
constexpr std::size_t max_rules = 1000;
constexpr std::int64_t max_repetitions = 256;

// White space is bounded: a small model that has nothing to say would otherwise write it without end. Numbers stay
// within what a double holds, and escapes leave out surrogates, which many readers refuse alone.
constexpr std::string_view common_rules = R"gbnf(
ws ::= | " " | "\n" [ \t]{0,20}
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-Ce-fE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
value ::= object | array | string | number | boolean | null
object ::= "{" ws (string ws ":" ws value ws ("," ws string ws ":" ws value ws)*)? "}"
array ::= "[" ws (value ws ("," ws value ws)*)? "]"
)gbnf";

constexpr std::array annotations = {"title",    "description", "default",  "examples",  "$schema", "$id",
                                    "$comment", "deprecated",  "readOnly", "writeOnly", "$defs",   "definitions"};

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Converter {
 public:
  explicit Converter(const Json& root) : root_(root) {}

  std::string convert(const std::string& param) {
    const std::string start = rule_of(root_, param, 0);
    std::string out = "root ::= ws " + start + " ws" + std::string(common_rules);
    for (const std::string& rule : rules_) out += rule + "\n";
    return out;
  }

 private:
  [[noreturn]] static void refuse(const std::string& param, const std::string& what) {
    throw ApiError("The schema uses what this model cannot be held to: " + what, param, "unsupported_schema");
  }

  std::string add(const std::string& body) {
    if (rules_.size() >= max_rules) refuse("response_format", "more than " + std::to_string(max_rules) + " parts");
    const std::string name = "r" + std::to_string(rules_.size());
    rules_.push_back(name + " ::= " + body);
    return name;
  }

  // Fails on members that would go unheeded.
  static void only(const Json& schema, const std::string& param, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : schema.items()) {
      const bool fine = std::find(known.begin(), known.end(), key) != known.end() ||
                        std::find(annotations.begin(), annotations.end(), key) != annotations.end();
      if (!fine) refuse(param + "." + key, "\"" + key + "\"");
    }
  }

  // A name or an expression in brackets that matches instances of the schema.
  std::string rule_of(const Json& schema, const std::string& param, int depth) {
    if (depth > max_depth) refuse(param, "more than " + std::to_string(max_depth) + " levels");
    if (schema == true) return "value";
    if (!schema.is_object()) refuse(param, "a schema that is no object");
    if (schema.contains("$ref")) return reference(schema, param, depth);
    if (schema.contains("const")) {
      only(schema, param, {"const", "type"});
      return literal(schema["const"].dump());
    }
    if (schema.contains("enum")) return enumeration(schema, param);
    if (schema.contains("anyOf")) return any_of(schema, param, depth);
    if (!schema.contains("type")) {
      only(schema, param, {});
      return "value";
    }
    if (schema["type"].is_array()) return types(schema, param, depth);
    return typed(schema, schema["type"], param, depth);
  }

  std::string typed(const Json& schema, const Json& type, const std::string& param, int depth) {
    if (type == "object") return object(schema, param, depth);
    if (type == "array") return array(schema, param, depth);
    if (type == "string") return string(schema, param);
    for (const char* name : {"integer", "number", "boolean", "null"}) {
      if (type != name) continue;
      only(schema, param, {"type"});
      return name;
    }
    refuse(param + ".type", type.dump());
  }

  // ["string", "null"]: the keywords of each type count for that type.
  std::string types(const Json& schema, const std::string& param, int depth) {
    if (schema["type"].empty()) refuse(param + ".type", "an empty list");
    std::string body;
    for (const Json& type : schema["type"]) {
      Json one = schema;
      one["type"] = type;
      const bool plain = type != "object" && type != "array" && type != "string";
      if (plain) one = {{"type", type}};
      body += (body.empty() ? "" : " | ") + typed(one, type, param, depth + 1);
    }
    return add(body);
  }

  std::string enumeration(const Json& schema, const std::string& param) {
    only(schema, param, {"enum", "type"});
    const Json& values = schema["enum"];
    if (!values.is_array() || values.empty()) refuse(param + ".enum", "an enum without values");
    std::string body;
    for (const Json& value : values) body += (body.empty() ? "" : " | ") + literal(value.dump());
    return add(body);
  }

  std::string any_of(const Json& schema, const std::string& param, int depth) {
    only(schema, param, {"anyOf"});
    const Json& choices = schema["anyOf"];
    if (!choices.is_array() || choices.empty()) refuse(param + ".anyOf", "an anyOf without choices");
    std::string body;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::string about = param + ".anyOf[" + std::to_string(i) + "]";
      body += (body.empty() ? "" : " | ") + rule_of(choices[i], about, depth + 1);
    }
    return add(body);
  }

  // A rule a definition, made before its body, so that a definition may hold itself.
  std::string reference(const Json& schema, const std::string& param, int depth) {
    only(schema, param, {"$ref"});
    if (!schema["$ref"].is_string()) refuse(param + ".$ref", "a $ref that is no string");
    const std::string target = schema["$ref"];
    if (target == "#") return self(root_, target, param, depth);
    for (const std::string where : {"$defs", "definitions"}) {
      const std::string prefix = "#/" + where + "/";
      if (!target.starts_with(prefix)) continue;
      const std::string name = target.substr(prefix.size());
      if (!root_.contains(where) || !root_[where].contains(name)) break;
      return self(root_[where][name], target, param, depth);
    }
    refuse(param + ".$ref", "a $ref to " + literal(target));
  }

  std::string self(const Json& schema, const std::string& target, const std::string& param, int depth) {
    const auto known = references_.find(target);
    if (known != references_.end()) return known->second;
    const std::string name = add("");
    const std::size_t index = rules_.size() - 1;
    references_.emplace(target, name);
    rules_[index] = name + " ::= " + rule_of(schema, param, depth + 1);
    return name;
  }

  std::string string(const Json& schema, const std::string& param) {
    only(schema, param, {"type", "minLength", "maxLength"});
    if (!schema.contains("minLength") && !schema.contains("maxLength")) return "string";
    return add("\"\\\"\" char" + repetition(schema, "minLength", "maxLength", param, 0) + " \"\\\"\"");
  }

  // {m,n} for bounds of which `taken` are written already.
  static std::string repetition(const Json& schema, const char* least, const char* most, const std::string& param,
                                std::int64_t taken) {
    const auto bound = [&](const char* key) {
      if (!schema[key].is_number_integer() || schema[key] < 0 || schema[key] > max_repetitions) {
        refuse(param + "." + key, std::string(key) + " outside 0 to " + std::to_string(max_repetitions));
      }
      return schema[key].get<std::int64_t>();
    };
    const std::int64_t low = schema.contains(least) ? bound(least) : 0;
    std::string out = "{" + std::to_string(std::max<std::int64_t>(low - taken, 0)) + ",";
    if (schema.contains(most)) {
      const std::int64_t high = bound(most);
      if (high < low) refuse(param + "." + most, std::string(most) + " below " + least);
      out += std::to_string(std::max<std::int64_t>(high - taken, 0));
    }
    return out + "}";
  }

  std::string array(const Json& schema, const std::string& param, int depth) {
    only(schema, param, {"type", "items", "minItems", "maxItems"});
    const std::string item = schema.contains("items") ? rule_of(schema["items"], param + ".items", depth + 1) : "value";
    const std::string more = repetition(schema, "minItems", "maxItems", param, 1);
    const bool may_be_empty = !schema.contains("minItems") || schema["minItems"] == 0;
    if (schema.contains("maxItems") && schema["maxItems"] == 0) return add("\"[\" ws \"]\"");
    const std::string items = "(" + item + " ws (\",\" ws " + item + " ws)" + more + ")";
    return add("\"[\" ws " + items + (may_be_empty ? "?" : "") + " \"]\"");
  }

  std::string object(const Json& schema, const std::string& param, int depth) {
    only(schema, param, {"type", "properties", "required", "additionalProperties"});
    const Json properties = schema.value("properties", Json::object());
    const Json required = schema.value("required", Json::array());
    if (!properties.is_object()) refuse(param + ".properties", "properties that are no object");
    if (!required.is_array()) refuse(param + ".required", "a required that is no list");
    for (const Json& name : required) {
      if (!name.is_string() || !properties.contains(name.get<std::string>())) {
        refuse(param + ".required", "a required property without a schema: " + name.dump());
      }
    }
    if (properties.empty()) return map(schema, param, depth);
    // From the last property to the first: what may follow when something stands before it, and when nothing does.
    std::string after, first;
    for (auto it = properties.rbegin(); it != properties.rend(); ++it) {
      const std::string value = rule_of(it.value(), param + ".properties." + it.key(), depth + 1);
      const std::string member = add(literal(Json(it.key()).dump()) + " ws \":\" ws " + value + " ws");
      const bool must = std::find(required.begin(), required.end(), it.key()) != required.end();
      const std::string alone = member + (after.empty() ? "" : " " + after);
      // An optional one may be absent, and then the next is still the first. An empty choice stands in front: behind
      // the last bar the parser would read on in the next line.
      first = add(must ? alone : first.empty() ? "| " + alone : alone + " | " + first);
      const std::string next = "\",\" ws " + member;
      after = add((must ? next : "(" + next + ")?") + (after.empty() ? "" : " " + after));
    }
    return add("\"{\" ws " + first + " \"}\"");
  }

  // An object whose members are all of one schema, or of any.
  std::string map(const Json& schema, const std::string& param, int depth) {
    const Json rest = schema.value("additionalProperties", Json(true));
    if (rest == false) return add("\"{\" ws \"}\"");
    if (rest == true) return "object";
    const std::string member =
        "string ws \":\" ws " + rule_of(rest, param + ".additionalProperties", depth + 1) + " ws";
    return add("\"{\" ws (" + member + " (\",\" ws " + member + ")*)? \"}\"");
  }

  const Json& root_;
  std::vector<std::string> rules_;
  std::map<std::string, std::string> references_;
};

}  // namespace

std::string json_object_grammar() { return "root ::= ws object ws" + std::string(common_rules); }

std::string schema_grammar(const nlohmann::ordered_json& schema, const std::string& param) {
  return Converter(schema).convert(param);
}

}  // namespace brink::model
