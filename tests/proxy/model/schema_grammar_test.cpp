#include "proxy/model/schema_grammar.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/model/api_error.hpp"

namespace brink::model {
namespace {

using Json = nlohmann::ordered_json;

// The rules of the schema itself, without those that all grammars have.
std::string own_rules(const std::string& schema) {
  const std::string grammar = schema_grammar(Json::parse(schema), "schema");
  const std::string last_common = "array ::= \"[\" ws (value ws (\",\" ws value ws)*)? \"]\"\n";
  const std::size_t at = grammar.find(last_common);
  EXPECT_NE(at, std::string::npos);
  return grammar.substr(0, grammar.find('\n')) + "\n" + grammar.substr(at + last_common.size());
}

std::string refused(const std::string& schema) {
  try {
    schema_grammar(Json::parse(schema), "s");
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code, "unsupported_schema");
    return error.param;
  }
  return "nothing was refused";
}

TEST(SchemaGrammar, Scalars) {
  EXPECT_EQ(own_rules(R"({"type":"integer","description":"x"})"), "root ::= ws integer ws\n");
  EXPECT_EQ(own_rules(R"({})"), "root ::= ws value ws\n");
  EXPECT_EQ(own_rules(R"({"const":"a\"\\b\n"})"), "root ::= ws \"\\\"a\\\\\\\"\\\\\\\\b\\\\n\\\"\" ws\n");
  EXPECT_EQ(own_rules(R"({"enum":["a",1,null]})"), "root ::= ws r0 ws\nr0 ::= \"\\\"a\\\"\" | \"1\" | \"null\"\n");
  EXPECT_EQ(own_rules(R"({"type":"string","maxLength":3})"), "root ::= ws r0 ws\nr0 ::= \"\\\"\" char{0,3} \"\\\"\"\n");
  EXPECT_EQ(own_rules(R"({"type":["string","null"],"minLength":2})"),
            "root ::= ws r1 ws\nr0 ::= \"\\\"\" char{2,} \"\\\"\"\nr1 ::= r0 | null\n");
}

TEST(SchemaGrammar, Arrays) {
  EXPECT_EQ(own_rules(R"({"type":"array","items":{"type":"null"}})"),
            "root ::= ws r0 ws\nr0 ::= \"[\" ws (null ws (\",\" ws null ws){0,})? \"]\"\n");
  EXPECT_EQ(own_rules(R"({"type":"array","items":{"type":"null"},"minItems":2,"maxItems":4})"),
            "root ::= ws r0 ws\nr0 ::= \"[\" ws (null ws (\",\" ws null ws){1,3}) \"]\"\n");
  EXPECT_EQ(own_rules(R"({"type":"array","maxItems":0})"), "root ::= ws r0 ws\nr0 ::= \"[\" ws \"]\"\n");
}

// a is required, b is not: a, or a and b.
TEST(SchemaGrammar, RequiredBeforeOptional) {
  EXPECT_EQ(own_rules(R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["a"]})"),
            "root ::= ws r6 ws\n"
            "r0 ::= \"\\\"b\\\"\" ws \":\" ws null ws\n"
            "r1 ::= | r0\n"
            "r2 ::= (\",\" ws r0)?\n"
            "r3 ::= \"\\\"a\\\"\" ws \":\" ws null ws\n"
            "r4 ::= r3 r2\n"
            "r5 ::= \",\" ws r3 r2\n"
            "r6 ::= \"{\" ws r4 \"}\"\n");
}

// a is not required, b is: then b may be the first.
TEST(SchemaGrammar, OptionalBeforeRequired) {
  EXPECT_EQ(own_rules(R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["b"]})"),
            "root ::= ws r6 ws\n"
            "r0 ::= \"\\\"b\\\"\" ws \":\" ws null ws\n"
            "r1 ::= r0\n"
            "r2 ::= \",\" ws r0\n"
            "r3 ::= \"\\\"a\\\"\" ws \":\" ws null ws\n"
            "r4 ::= r3 r2 | r1\n"
            "r5 ::= (\",\" ws r3)? r2\n"
            "r6 ::= \"{\" ws r4 \"}\"\n");
}

TEST(SchemaGrammar, MapsAndOpenObjects) {
  EXPECT_EQ(own_rules(R"({"type":"object"})"), "root ::= ws object ws\n");
  EXPECT_EQ(own_rules(R"({"type":"object","additionalProperties":false})"),
            "root ::= ws r0 ws\nr0 ::= \"{\" ws \"}\"\n");
  EXPECT_EQ(own_rules(R"({"type":"object","additionalProperties":{"type":"null"}})"),
            "root ::= ws r0 ws\n"
            "r0 ::= \"{\" ws (string ws \":\" ws null ws (\",\" ws string ws \":\" ws null ws)*)? \"}\"\n");
}

TEST(SchemaGrammar, DefinitionsMayHoldThemselves) {
  EXPECT_EQ(own_rules(R"({"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[{"type":"null"},
              {"type":"array","items":{"$ref":"#/$defs/t"}}]}}})"),
            "root ::= ws r0 ws\n"
            "r0 ::= r2\n"
            "r1 ::= \"[\" ws (r0 ws (\",\" ws r0 ws){0,})? \"]\"\n"
            "r2 ::= null | r1\n");
}

TEST(SchemaGrammar, RefusesWhatItCannotHoldTo) {
  EXPECT_EQ(refused(R"({"type":"string","pattern":"a"})"), "s.pattern");
  EXPECT_EQ(refused(R"({"type":"integer","minimum":1})"), "s.minimum");
  EXPECT_EQ(refused(R"({"properties":{"a":{}}})"), "s.properties");  // without a type it may be no object
  EXPECT_EQ(refused(R"({"allOf":[{}]})"), "s.allOf");
  EXPECT_EQ(refused(R"({"anyOf":[{"type":"null"},{"type":"x"}]})"), "s.anyOf[1].type");
  EXPECT_EQ(refused(R"({"anyOf":[]})"), "s.anyOf");
  EXPECT_EQ(refused(R"({"enum":[]})"), "s.enum");
  EXPECT_EQ(refused(R"({"type":[]})"), "s.type");
  EXPECT_EQ(refused(R"({"$ref":"#/$defs/missing"})"), "s.$ref");
  EXPECT_EQ(refused(R"({"$ref":7})"), "s.$ref");
  EXPECT_EQ(refused(R"({"type":"array","items":{"type":"object","properties":{"a":{"format":"x"}}}})"),
            "s.items.properties.a.format");
  EXPECT_EQ(refused(R"({"type":"array","minItems":3,"maxItems":2})"), "s.maxItems");
  EXPECT_EQ(refused(R"({"type":"array","minItems":-1})"), "s.minItems");
  EXPECT_EQ(refused(R"({"type":"object","properties":{"a":{}},"required":["b"]})"), "s.required");
  EXPECT_EQ(refused("false"), "s");
  EXPECT_EQ(refused("[]"), "s");
}

TEST(SchemaGrammar, IsBounded) {
  Json deep{{"type", "null"}};
  for (int i = 0; i < 40; ++i) deep = Json{{"type", "array"}, {"items", deep}};
  EXPECT_THROW(schema_grammar(deep, "s"), ApiError);
  Json wide{{"type", "object"}, {"properties", Json::object()}};
  for (int i = 0; i < 2000; ++i) wide["properties"]["p" + std::to_string(i)] = Json{{"type", "null"}};
  EXPECT_THROW(schema_grammar(wide, "s"), ApiError);
}

}  // namespace
}  // namespace brink::model
