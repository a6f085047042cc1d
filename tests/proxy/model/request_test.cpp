#include "proxy/model/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "proxy/model/api_error.hpp"

namespace brink::model {
namespace {

// `members` stand after the messages.
std::string chat(const std::string& members) {
  return R"({"messages":[{"role":"user","content":"hi"}])" + (members.empty() ? "" : "," + members) + "}";
}

// The error's `param`, with its message where the test fails.
std::string refused(const std::function<void()>& read) {
  try {
    read();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 400);
    return error.param.empty() ? std::string("body: ") + error.what() : error.param;
  }
  return "nothing was refused";
}
std::string refused_chat(const std::string& members) {
  return refused([&] { read_chat(chat(members)); });
}

TEST(Request, ReadsTheDefaults) {
  const ChatRequest request = read_chat(chat(""));
  ASSERT_EQ(request.messages.size(), 1U);
  EXPECT_EQ(request.messages[0].role, "user");
  EXPECT_EQ(request.messages[0].content, "hi");
  EXPECT_EQ(request.generation.sampling.temperature, 1);
  EXPECT_EQ(request.generation.sampling.top_p, 1);
  EXPECT_FALSE(request.generation.max_tokens);
  EXPECT_FALSE(request.generation.stream);
  EXPECT_EQ(read_completion(R"({"prompt":"a"})").generation.max_tokens, 16);
}

TEST(Request, ReadsEverySamplingMember) {
  const Generation read =
      read_chat(chat(R"("temperature":0,"top_p":0.5,"top_k":7,"min_p":0.1,"seed":-1,"stop":["a","b"],
      "presence_penalty":1,"frequency_penalty":-1,"repetition_penalty":1.2,"ignore_eos":true,"max_completion_tokens":5,
      "stream":true,"stream_options":{"include_usage":true},"grammar":"root ::= \"a\"")"))
          .generation;
  EXPECT_EQ(read.sampling.temperature, 0);
  EXPECT_EQ(read.sampling.top_p, 0.5F);
  EXPECT_EQ(read.sampling.top_k, 7);
  EXPECT_EQ(read.sampling.min_p, 0.1F);
  EXPECT_EQ(read.sampling.seed, 0xfffffffeU);  // the largest means "random" to llama.cpp
  EXPECT_EQ(read.sampling.presence_penalty, 1);
  EXPECT_EQ(read.sampling.frequency_penalty, -1);
  EXPECT_EQ(read.sampling.repetition_penalty, 1.2F);
  EXPECT_TRUE(read.sampling.ignore_end);
  EXPECT_EQ(read.sampling.grammar, "root ::= \"a\"");
  EXPECT_EQ(read.max_tokens, 5);
  EXPECT_EQ(read.stops, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read.stream);
  EXPECT_TRUE(read.include_usage);
}

TEST(Request, NullIsAbsent) {
  EXPECT_NO_THROW(read_chat(chat(R"("temperature":null,"stop":null,"tools":null,"n":null,"response_format":null)")));
}

TEST(Request, RefusesWhatWouldGoUnheeded) {
  EXPECT_EQ(refused_chat(R"("n":2)"), "n");
  EXPECT_EQ(refused_chat(R"("logprobs":true)"), "logprobs");
  EXPECT_EQ(refused_chat(R"("tools":[{"type":"function"}])"), "tools");
  EXPECT_EQ(refused_chat(R"("tool_choice":"required")"), "tool_choice");
  EXPECT_EQ(refused_chat(R"("logit_bias":{"5":1})"), "logit_bias");
  EXPECT_EQ(refused_chat(R"("modalities":["audio"])"), "modalities");
  EXPECT_EQ(refused_chat(R"("surprise":1)"), "surprise");
  EXPECT_EQ(refused_chat(R"("stream":true,"stream_options":{"surprise":1})"), "stream_options.surprise");
  EXPECT_EQ(refused_chat(R"("stream_options":{"include_usage":true})"), "stream_options");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":["a","b"]})"); }), "prompt");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":"a","echo":true})"); }), "echo");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":"a","logprobs":1})"); }), "logprobs");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":"a","messages":[]})"); }), "messages");
}

TEST(Request, RefusesValuesOutOfRange) {
  EXPECT_EQ(refused_chat(R"("temperature":2.1)"), "temperature");
  EXPECT_EQ(refused_chat(R"("temperature":"hot")"), "temperature");
  EXPECT_EQ(refused_chat(R"("top_p":-0.1)"), "top_p");
  EXPECT_EQ(refused_chat(R"("max_tokens":0)"), "max_tokens");
  EXPECT_EQ(refused_chat(R"("max_tokens":1.5)"), "max_tokens");
  EXPECT_EQ(refused_chat(R"("max_tokens":3,"max_completion_tokens":4)"), "max_tokens");
  EXPECT_EQ(refused_chat(R"("seed":1e30)"), "seed");
  EXPECT_EQ(refused_chat(R"("stop":"")"), "stop");
  EXPECT_EQ(refused_chat(R"("stop":[1])"), "stop");
  EXPECT_EQ(refused_chat(R"("stop":")" + std::string(257, 'x') + "\""), "stop");
  EXPECT_EQ(refused_chat(R"("grammar":"a","response_format":{"type":"json_object"})"), "grammar");
  EXPECT_EQ(refused_chat(R"("response_format":{"type":"xml"})"), "response_format.type");
  EXPECT_EQ(refused_chat(R"("response_format":{"type":"json_schema","json_schema":{"name":"a"}})"),
            "response_format.json_schema.schema");
}

TEST(Request, RefusesBodiesThatAreNoRequest) {
  for (const std::string body : {"", "{", "[]", "1", "{\"messages\":", "\xff"}) {
    EXPECT_THROW(read_chat(body), ApiError) << body;
  }
  EXPECT_EQ(refused([] { read_chat("{}"); }), "messages");
  EXPECT_EQ(refused([] { read_chat(R"({"messages":[]})"); }), "messages");
  EXPECT_THROW(read_chat(R"({"messages":)" + std::string(1000000, '[')), ApiError);
  EXPECT_THROW(read_chat(R"({"messages":)" + std::string(70, '[') + std::string(70, ']') + "}"), ApiError);
}

TEST(Request, ReadsMessages) {
  const ChatRequest request = read_chat(R"({"messages":[{"role":"developer","content":"be"},
      {"role":"user","name":"x","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
      {"role":"assistant","content":"c"}]})");
  ASSERT_EQ(request.messages.size(), 3U);
  EXPECT_EQ(request.messages[0].role, "system");
  EXPECT_EQ(request.messages[1].content, "ab");
}

TEST(Request, RefusesMessagesItCannotRead) {
  const auto message = [](const std::string& text) {
    return refused([&] { read_chat(R"({"messages":[)" + text + "]}"); });
  };
  EXPECT_EQ(message(R"({"role":"tool","content":"a"})"), "messages[0].role");
  EXPECT_EQ(message(R"({"role":"user"})"), "messages[0].content");
  EXPECT_EQ(message(R"({"role":"user","content":[{"type":"image_url"}]})"), "messages[0].content");
  EXPECT_EQ(message(R"({"role":"user","content":"a\u0000b"})"), "messages[0].content");
  EXPECT_EQ(message(R"({"role":"assistant","content":"a","tool_calls":[{}]})"), "messages[0].tool_calls");
  EXPECT_EQ(message("7"), "messages[0]");
}

TEST(Request, ReadsPromptsAndInputs) {
  EXPECT_EQ(std::get<std::string>(read_completion(R"({"prompt":["a"]})").prompt), "a");
  EXPECT_EQ(std::get<std::vector<Token>>(read_completion(R"({"prompt":[1,2]})").prompt), (std::vector<Token>{1, 2}));
  EXPECT_EQ(read_embedding(R"({"input":["a",[1],"b"]})").inputs.size(), 3U);
  EXPECT_TRUE(read_embedding(R"({"input":"a","encoding_format":"base64"})").base64);
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":[1,"a"]})"); }), "prompt");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":[-1]})"); }), "prompt");
  EXPECT_EQ(refused([] { read_completion(R"({"prompt":{}})"); }), "prompt");
  EXPECT_EQ(refused([] { read_embedding("{}"); }), "input");
  nlohmann::json many{{"input", std::vector<std::string>(65, "a")}};
  EXPECT_EQ(refused([&] { read_embedding(many.dump()); }), "input");
}

}  // namespace
}  // namespace brink::model
