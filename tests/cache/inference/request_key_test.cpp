#include "cache/inference/request_key.hpp"

#include <gtest/gtest.h>

#include <set>

namespace brink::cache::inference {
namespace {

constexpr std::string_view chat = "/v1/chat/completions";

Keyed make(std::string_view body, std::string_view path = chat, When when = When::repeatable) {
  RequestKey maker;
  Request request;
  request.method = "POST";
  request.path = path;
  request.route = "models";
  request.scope = "public";
  request.body = body;
  return maker.make(request, when);
}

// Of a chat call of temperature 0 with these further members.
std::string key(std::string_view members) {
  const Keyed keyed = make(R"({"model":"m","temperature":0,"messages":[],)" + std::string(members) + "}");
  EXPECT_EQ(keyed.refused, nullptr) << members;
  return keyed.key;
}

std::string refused(std::string_view members, std::string_view path = chat, When when = When::always) {
  const Keyed keyed = make(R"({"model":"m",)" + std::string(members) + "}", path, when);
  EXPECT_EQ(keyed.key.empty(), keyed.refused != nullptr);
  return keyed.refused != nullptr ? keyed.refused : "";
}

TEST(RequestKey, IsSixtyFourDigitsAndTheSameEachTime) {
  const std::string body = R"({"model":"m","seed":1,"messages":[{"role":"user","content":"hi"}]})";
  const std::string first = make(body).key;
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(first.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(make(body).key, first);
  RequestKey maker;
  Request request{"POST", chat, "", "models", "public", {}, {}, body};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(maker.make(request).key, first);
}

TEST(RequestKey, SpellingDoesNotMatter) {
  EXPECT_EQ(make(R"({"model":"m","temperature":0,"messages":[{"role":"user","content":"A/b"}],"seed":12})").key,
            make("{ \"seed\" : 1.2e1,\n\"messages\":[ {\"content\":\"\\u0041\\/b\",\"role\":\"user\"} ],"
                 "\"temperature\": -0.0 ,\"model\":\"\\u006d\"}")
                .key);
}

TEST(RequestKey, EverythingElseMatters) {
  std::set<std::string> keys;
  const char* const variants[] = {R"("max_tokens":1)",
                                  R"("max_tokens":2)",
                                  R"("max_tokens":"1")",
                                  R"("max_tokens":null)",
                                  R"("top_p":1)",
                                  R"("unknown":1)",
                                  R"("user":"a")",
                                  R"("user":"b")",
                                  R"("metadata":{})",
                                  R"("service_tier":"flex")",
                                  R"("cache_salt":"x")",
                                  R"("safety_identifier":"x")",
                                  R"("tools":[])",
                                  R"("logprobs":true)",
                                  R"("logit_bias":{})",
                                  R"("response_format":{"type":"text"})",
                                  R"("seed":1)",
                                  R"("seed":null)",
                                  R"("stop":["a","b"])",
                                  R"("stop":["b","a"])",
                                  R"("stop":"a")",
                                  R"("seed":9007199254740992)",
                                  R"("seed":9007199254740993)"};
  for (const char* variant : variants) EXPECT_TRUE(keys.insert(key(variant)).second) << variant;
}

TEST(RequestKey, TemperatureZeroAndNoneDiffer) {
  EXPECT_NE(make(R"({"temperature":0,"seed":1})").key, make(R"({"seed":1})").key);
  EXPECT_NE(make(R"({"temperature":null,"seed":1})").key, make(R"({"seed":1})").key);
}

TEST(RequestKey, FormsOfOneRequestShareTheKey) {
  const std::string plain = key(R"("x":1)");
  for (const char* form :
       {R"("stream":true)", R"("stream":false)", R"("stream":null)", R"("stream":true,"stream_options":null)",
        R"("stream":true,"stream_options":{"include_usage":true})",
        R"("stream":true,"stream_options":{"include_usage":false,"include_obfuscation":true})",
        R"("stream":true,"stream_options":{"continuous_usage_stats":false})"})
    EXPECT_EQ(key(R"("x":1,)" + std::string(form)), plain) << form;
}

TEST(RequestKey, UsageInEachEventHasAKeyOfItsOwn) {
  const std::string body = R"({"temperature":0,"stream":true,"stream_options":{"include_usage":true)";
  const Keyed usual = make(body + "}}");
  const Keyed each = make(body + R"(,"continuous_usage_stats":true}})");
  EXPECT_TRUE(usual.facts.convertible);
  EXPECT_FALSE(each.facts.convertible);
  EXPECT_TRUE(each.facts.include_usage);
  EXPECT_NE(usual.key, each.key);
}

TEST(RequestKey, OtherEndpointsKeepStreamInTheKey) {
  const std::string body = R"({"temperature":0,"store":false,"input":"x")";
  EXPECT_NE(make(body + "}", "/v1/responses").key, make(body + R"(,"stream":true})", "/v1/responses").key);
  EXPECT_FALSE(make(body + "}", "/v1/responses").facts.convertible);
}

TEST(RequestKey, WhatCannotChangeTheAnswerIsLeftOut) {
  const std::string plain = key(R"("x":1)");
  for (const char* member : {R"("prompt_cache_key":"a")", R"("prompt_cache_retention":"24h")",
                             R"("prompt_cache_options":{"ttl":1})", R"("store":false)", R"("store":null)"})
    EXPECT_EQ(key(R"("x":1,)" + std::string(member)), plain) << member;
}

TEST(RequestKey, AMemberLeftOutMayNotComeTwiceEither) {
  EXPECT_EQ(refused(R"("stream":true,"stream":false)"), "the JSON names a member twice");
}

TEST(RequestKey, WhereAndWhoMatter) {
  RequestKey maker;
  const std::string body = R"({"temperature":0})";
  const Request base{"POST", chat, "", "models", "public", {}, {}, body};
  std::set<std::string> keys{maker.make(base).key};
  Request other = base;
  other.path = "/v2/chat/completions";
  EXPECT_TRUE(keys.insert(maker.make(other).key).second);
  other = base;
  other.query = "a=1";
  EXPECT_TRUE(keys.insert(maker.make(other).key).second);
  other = base;
  other.route = "model";
  other.scope = "spublic";  // bytes that move from one part to the next
  EXPECT_TRUE(keys.insert(maker.make(other).key).second);
  other = base;
  other.scope = "abc";
  EXPECT_TRUE(keys.insert(maker.make(other).key).second);
}

TEST(RequestKey, FieldsThatChangeTheAnswerMatter) {
  RequestKey maker;
  const std::string body = R"({"temperature":0})";
  const auto of = [&](std::vector<Field> fields, std::vector<std::string_view> more = {}) {
    return maker.make({"POST", chat, "", "models", "public", fields, more, body}).key;
  };
  std::set<std::string> keys{of({})};
  for (const Field field : {Field{"OpenAI-Organization", "a"},
                            {"OpenAI-Organization", "b"},
                            {"openai-project", "a"},
                            {"OpenAI-Beta", "a"},
                            {"openai-version", "a"},
                            {"anthropic-beta", "a"},
                            {"anthropic-version", "a"},
                            {"Accept-Language", "a"},
                            {"openai-beta", ""}})
    EXPECT_TRUE(keys.insert(of({field})).second) << field.name;
  EXPECT_EQ(of({{"openai-beta", "a"}}), of({{"OpenAI-BETA", "a"}}));
  EXPECT_EQ(of({{"openai-beta", "a"}, {"openai-project", "b"}}), of({{"openai-project", "b"}, {"openai-beta", "a"}}));
  EXPECT_NE(of({{"openai-beta", "a"}, {"openai-beta", "b"}}), of({{"openai-beta", "b"}, {"openai-beta", "a"}}));
  EXPECT_NE(of({{"openai-beta", "ab"}}), of({{"openai-beta", "a"}, {"openai-beta", "b"}}));
  for (const Field field : {Field{"x-request-id", "a"},
                            {"user-agent", "a"},
                            {"accept", "a"},
                            {"content-type", "a"},
                            {"x-stainless-retry-count", "1"},
                            {"traceparent", "a"},
                            {"authorization", "a"}})
    EXPECT_EQ(of({field}), of({})) << field.name;
  EXPECT_NE(of({{"X-Variant", "a"}}, {"x-variant"}), of({{"X-Variant", "b"}}, {"x-variant"}));
}

TEST(RequestKey, FactsAreReadOnTheWay) {
  const Keyed keyed = make(
      R"({"n":3,"stream_options":{"include_usage":true},"seed":-4e2,"temperature":0.0,"model":"\u0061\"b","stream":true})");
  EXPECT_EQ(keyed.refused, nullptr);
  EXPECT_EQ(keyed.facts.endpoint, Endpoint::chat);
  EXPECT_TRUE(keyed.facts.stream);
  EXPECT_TRUE(keyed.facts.include_usage);
  EXPECT_TRUE(keyed.facts.convertible);
  EXPECT_EQ(keyed.facts.model, "a\"b");
  EXPECT_EQ(keyed.facts.temperature, 0.0);
  EXPECT_EQ(keyed.facts.seed, -400);
  EXPECT_EQ(keyed.facts.choices, 3U);
  const Facts none = make(R"({"seed":1})").facts;
  EXPECT_FALSE(none.stream || none.include_usage || none.temperature.has_value());
  EXPECT_EQ(none.choices, 1U);
}

TEST(Eligibility, EndpointsAreKnownByTheirEnd) {
  EXPECT_EQ(endpoint_of("POST", "/openai/deployments/x/chat/completions"), Endpoint::chat);
  EXPECT_EQ(endpoint_of("POST", "/v1/completions"), Endpoint::completions);
  EXPECT_EQ(endpoint_of("POST", "/v1/embeddings"), Endpoint::embeddings);
  EXPECT_EQ(endpoint_of("POST", "/rerank"), Endpoint::rerank);
  EXPECT_EQ(endpoint_of("POST", "/v2/rerank"), Endpoint::rerank);
  EXPECT_EQ(endpoint_of("POST", "/v1/moderations"), Endpoint::moderations);
  EXPECT_EQ(endpoint_of("POST", "/v1/responses"), Endpoint::responses);
  for (const char* path :
       {"/v1/responses/x/cancel", "/v1/models", "/v1/images/generations", "/v1/xembeddings", "/", ""})
    EXPECT_EQ(endpoint_of("POST", path), Endpoint::other) << path;
  EXPECT_EQ(endpoint_of("GET", chat), Endpoint::other);
  EXPECT_STREQ(make("{}", "/v1/models").refused, "the endpoint is not known to the cache");
}

TEST(Eligibility, RepeatableIsTemperatureZeroOrASeed) {
  const char* const reason = "the answer is not repeatable: no temperature 0, no seed";
  for (const char* members :
       {R"("temperature":0)", R"("temperature":-0.0)", R"("seed":0)", R"("seed":7,"temperature":1)"})
    EXPECT_EQ(refused(members, chat, When::repeatable), "") << members;
  for (const char* members : {R"("x":1)", R"("temperature":0.1)", R"("temperature":null)", R"("seed":null)",
                              R"("seed":-1)", R"("temperature":"0")", R"("seed":1.5)", R"("temperature":false)"}) {
    EXPECT_EQ(refused(members, chat, When::repeatable), reason) << members;
    EXPECT_EQ(refused(members, chat, When::always), "") << members;
  }
  for (const char* path : {"/v1/embeddings", "/v1/rerank", "/v1/moderations"})
    EXPECT_EQ(refused(R"("input":"x")", path, When::repeatable), "") << path;
}

TEST(Eligibility, WhatTheBackendKeepsIsRefused) {
  EXPECT_EQ(refused(R"("store":true)"), "the backend stores the answer");
  EXPECT_EQ(refused(R"("store":1)"), "the backend stores the answer");
  EXPECT_EQ(refused(R"("background":true)"), "the answer is made in the background");
  for (const char* members : {R"("previous_response_id":"r")", R"("conversation":"c")", R"("conversation":{"id":"c"})"})
    EXPECT_EQ(refused(members), "the answer depends on a conversation that the backend keeps");
}

TEST(Eligibility, ResponsesMustSayThatTheyAreNotStored) {
  EXPECT_EQ(refused(R"("input":"x")", "/v1/responses"), "the backend stores the response");
  EXPECT_EQ(refused(R"("store":null)", "/v1/responses"), "the backend stores the response");
  EXPECT_EQ(refused(R"("store":false)", "/v1/responses"), "");
  EXPECT_EQ(refused(R"("store":false,"prompt":{"id":"p"})", "/v1/responses"),
            "a prompt stored in the backend may change");
  EXPECT_NE(refused(R"("store":false,"seed":1)", "/v1/responses", When::repeatable), "");
  EXPECT_EQ(refused(R"("store":false,"temperature":0)", "/v1/responses", When::repeatable), "");
}

TEST(Eligibility, AudioAndSearchAndToolsOfTheBackendAreRefused) {
  EXPECT_EQ(refused(R"("modalities":["text","audio"])"), "the answer is audio");
  EXPECT_EQ(refused(R"("audio":{"voice":"x"})"), "the answer is audio");
  EXPECT_EQ(refused(R"("modalities":["text"],"audio":null)"), "");
  for (const char* members : {R"("web_search_options":{})", R"("search_parameters":{"mode":"on"})",
                              R"("enable_search":true)", R"("plugins":[{"id":"web"}])"})
    EXPECT_EQ(refused(members), "the answer comes from a search") << members;
  EXPECT_STREQ(make(R"({"model":"gpt-4o-search-preview","temperature":0})").refused, "the answer comes from a search");
  for (const char* members :
       {R"("tools":[{"type":"function"},{"type":"web_search_preview"}])", R"("tools":[{"type":"mcp"}])",
        R"("tools":[1])", R"("tools":"x")", R"("tools":[{"type":1}])"})
    EXPECT_EQ(refused(members), "a tool runs in the backend") << members;
  EXPECT_EQ(refused(R"("kv_transfer_params":{})"), "the answer is one step of a divided inference");
}

TEST(Eligibility, WhatAClientAsksOfAnAnswerIsFine) {
  for (const char* members :
       {R"("n":4)", R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"web_search"}}}])",
        R"("tools":[{"type":"custom","custom":{"name":"f"}}])", R"("tools":[])", R"("tools":null)",
        R"("response_format":{"type":"json_object"})", R"("logprobs":true,"top_logprobs":5)", R"("n":null)"})
    EXPECT_EQ(refused(members), "") << members;
}

TEST(Eligibility, WhatIsNotUnderstoodIsRefused) {
  EXPECT_EQ(refused(R"("stream":"true")"), "stream is no boolean");
  EXPECT_EQ(refused(R"("stream":1)"), "stream is no boolean");
  for (const char* n : {R"("n":0)", R"("n":-1)", R"("n":1.5)", R"("n":"2")", R"("n":5000000000)", R"("n":1e30)"})
    EXPECT_EQ(refused(n), "n is no number of choices") << n;
  EXPECT_STREQ(make("").refused, "the body is no JSON object");
  EXPECT_STREQ(make("[]").refused, "the body is no JSON object");
  EXPECT_STREQ(make("{\"a\":\"\xff\"}").refused, "the JSON is not UTF-8");
}

}  // namespace
}  // namespace brink::cache::inference
