#include <gtest/gtest.h>

#include "cache/inference/recorder.hpp"
#include "tests/cache/inference/answers.hpp"

namespace brink::cache::inference {
namespace {

// A chat answer around the inside of its message, with further members of its choice and of itself.
std::string answer(std::string_view message, std::string_view choice = "", std::string_view more = "") {
  return R"({"id":"c1","object":"chat.completion","created":5,"model":"m","choices":[{"index":0,"message":{)" +
         std::string(message) + R"(},"finish_reason":"stop")" + std::string(choice) +
         R"(}],"usage":{"total_tokens":3})" + std::string(more) + "}";
}

std::string why(std::string_view plain, Endpoint endpoint = Endpoint::chat) {
  const Converted made = convert(endpoint, plain, plain_form, usage_form);
  return made.body ? "" : made.refused;
}

std::vector<TestJson> deltas_of(std::string_view plain) {
  std::vector<TestJson> deltas;
  for (const TestJson& event : events_of(to_stream(plain, false))) deltas.push_back(event["choices"][0]["delta"]);
  return deltas;
}

TEST(ToStream, HasTheOfficialShape) {
  const std::string stream =
      to_stream(answer(R"("role":"assistant","content":"Hi","refusal":null)", R"(,"logprobs":null)"));
  EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
  const std::vector<TestJson> events = events_of(stream);
  ASSERT_EQ(events.size(), 4U);
  for (const TestJson& event : events) {
    EXPECT_EQ(event["id"], "c1");
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_EQ(event["created"], 5);
    EXPECT_EQ(event["model"], "m");
  }
  EXPECT_EQ(events[0]["choices"],
            TestJson::parse(R"([{"index":0,"delta":{"role":"assistant","content":"","refusal":null},
      "logprobs":null,"finish_reason":null}])"));
  EXPECT_EQ(events[1]["choices"],
            TestJson::parse(R"([{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}])"));
  EXPECT_EQ(events[2]["choices"],
            TestJson::parse(R"([{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}])"));
  EXPECT_EQ(events[3]["choices"], TestJson::array());
  EXPECT_EQ(events[3]["usage"], TestJson::parse(R"({"total_tokens":3})"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(events[i].contains("usage"));
    EXPECT_TRUE(events[i]["usage"].is_null());
  }
}

TEST(ToStream, UsageComesOnlyIfAskedFor) {
  const std::vector<TestJson> events = events_of(to_stream(answer(R"("role":"assistant","content":"Hi")"), false));
  ASSERT_EQ(events.size(), 3U);
  for (const TestJson& event : events) {
    EXPECT_FALSE(event.contains("usage"));
    EXPECT_EQ(event["choices"].size(), 1U);
  }
}

TEST(ToStream, ItIsRecordedAsWhole) {
  for (const bool usage : {true, false}) {
    StreamRecorder recorder(Endpoint::chat, 1, 10'000);
    recorder.feed(to_stream(answer(R"("role":"assistant","content":"Hi")"), usage));
    EXPECT_EQ(recorder.finish(), StreamRecorder::State::complete);
    EXPECT_EQ(recorder.has_usage(), usage);
  }
}

TEST(ToStream, EachKindOfTextHasItsEvent) {
  EXPECT_EQ(TestJson(deltas_of(
                answer(R"("role":"assistant","content":"c","refusal":"r","reasoning":"t","reasoning_content":"u")"))),
            TestJson::parse(R"([{"role":"assistant","content":""},{"reasoning_content":"u"},{"reasoning":"t"},
                                {"content":"c"},{"refusal":"r"},{}])"));
  EXPECT_EQ(TestJson(deltas_of(answer(R"("role":"assistant","content":null,"refusal":"","reasoning":null)"))),
            TestJson::parse(R"([{"role":"assistant","content":null,"refusal":"","reasoning":null},{}])"));
}

TEST(ToStream, ToolCallsComeWithEmptyArgumentsFirst) {
  const std::string message = R"("role":"assistant","content":null,"tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":""}}])";
  EXPECT_EQ(TestJson(deltas_of(answer(message))), TestJson::parse(R"([{"role":"assistant","content":null},
      {"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]},
      {"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]},
      {"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]},{}])"));
  EXPECT_EQ(TestJson(deltas_of(answer(R"("role":"assistant","content":"","tool_calls":[])"))),
            TestJson::parse(R"([{"role":"assistant","content":"","tool_calls":[]},{}])"));
}

TEST(ToStream, AFunctionCallComesWithEmptyArgumentsFirst) {
  EXPECT_EQ(
      TestJson(deltas_of(answer(R"("role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"})"))),
      TestJson::parse(R"([{"role":"assistant","content":null},{"function_call":{"name":"f","arguments":""}},
                                {"function_call":{"arguments":"{}"}},{}])"));
}

TEST(ToStream, LogprobsComeWithTheTextTheyBelongTo) {
  const std::string logprobs = R"(,"logprobs":{"content":[{"token":"a"}],"refusal":null},"token_ids":[1])";
  const std::vector<TestJson> events = events_of(to_stream(answer(R"("role":"assistant","content":"a")", logprobs)));
  EXPECT_TRUE(events[0]["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(events[1]["choices"][0]["logprobs"], TestJson::parse(R"({"content":[{"token":"a"}],"refusal":null})"));
  EXPECT_EQ(events[1]["choices"][0]["token_ids"], TestJson::parse("[1]"));
  EXPECT_TRUE(events[2]["choices"][0]["logprobs"].is_null());
  EXPECT_FALSE(events[2]["choices"][0].contains("token_ids"));
  const std::vector<TestJson> silent = events_of(to_stream(answer(R"("role":"assistant","content":null)", logprobs)));
  EXPECT_TRUE(silent[0]["choices"][0]["logprobs"].is_object());
}

TEST(ToStream, StopReasonComesLastAndFurtherMembersFirst) {
  const std::vector<TestJson> events = events_of(
      to_stream(answer(R"("role":"assistant","content":"a","annotations":[],"audio":null,"extra":1)",
                       R"(,"stop_reason":"X","content_filter_results":{"a":1})",
                       R"(,"system_fingerprint":"fp","service_tier":"default","prompt_logprobs":null,"kv":{"a":1})")));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0]["choices"][0]["delta"],
            TestJson::parse(R"({"role":"assistant","content":"","annotations":[],"audio":null,"extra":1})"));
  EXPECT_EQ(events[0]["choices"][0]["content_filter_results"], TestJson::parse(R"({"a":1})"));
  EXPECT_EQ(events[2]["choices"][0]["stop_reason"], "X");
  EXPECT_FALSE(events[1]["choices"][0].contains("stop_reason"));
  EXPECT_TRUE(events[0].contains("prompt_logprobs") && events[0].contains("kv"));
  EXPECT_FALSE(events[1].contains("kv"));
  for (const TestJson& event : events) {
    EXPECT_EQ(event["system_fingerprint"], "fp");
    EXPECT_EQ(event["service_tier"], "default");
  }
}

TEST(ToStream, EachChoiceOpensWithItsRoleAndEndsWithItsReason) {
  const std::string plain = R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[
    {"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"},
    {"index":1,"message":{"role":"assistant","content":"b"},"finish_reason":"length"}]})";
  std::vector<std::vector<TestJson>> of(2);
  for (const TestJson& event : events_of(to_stream(plain, false))) {
    ASSERT_EQ(event["choices"].size(), 1U);
    of[event["choices"][0]["index"].get<std::size_t>()].push_back(event["choices"][0]);
  }
  for (const auto& choices : of) {
    ASSERT_EQ(choices.size(), 3U);
    EXPECT_EQ(choices.front()["delta"]["role"], "assistant");
    EXPECT_TRUE(choices[0]["finish_reason"].is_null() && choices[1]["finish_reason"].is_null());
  }
  EXPECT_EQ(of[0].back()["finish_reason"], "stop");
  EXPECT_EQ(of[1].back()["finish_reason"], "length");
}

TEST(ToStream, ATextAnswerBecomesItsStream) {
  const std::string plain =
      R"({"id":"t","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"ab",
    "logprobs":{"tokens":["ab"],"token_logprobs":[-1.5],"top_logprobs":null,"text_offset":[0]},"finish_reason":"length"}],
    "usage":{"total_tokens":2}})";
  const std::vector<TestJson> events = events_of(to_stream(plain, true, Endpoint::completions));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]["object"], "text_completion");
  EXPECT_EQ(events[0]["choices"],
            TestJson::parse(R"([{"index":0,"text":"ab","logprobs":{"tokens":["ab"],"token_logprobs":[-1.5],
      "top_logprobs":null,"text_offset":[0]},"finish_reason":null}])"));
  EXPECT_EQ(events[1]["choices"],
            TestJson::parse(R"([{"index":0,"text":"","logprobs":null,"finish_reason":"length"}])"));
  EXPECT_EQ(events[2]["choices"], TestJson::array());
}

TEST(ToStream, WhatCannotBeStreamedIsRefused) {
  const auto message = [](std::string_view more) {
    return answer(R"("role":"assistant","content":"a",)" + std::string(more));
  };
  const auto call = [&](std::string_view text) { return message(R"("tool_calls":[)" + std::string(text) + "]"); };
  EXPECT_EQ(why(message(R"("audio":{"id":"x"})")), "audio cannot be streamed");
  EXPECT_EQ(why(message(R"("refusal":1)")), "a text of a message is none");
  EXPECT_EQ(why(answer(R"("role":"assistant","content":[])")), "a text of a message is none");
  EXPECT_EQ(why(answer(R"("role":"assistant")")), "a message has no role or no content");
  EXPECT_EQ(why(answer(R"("content":"a")")), "a message has no role or no content");
  EXPECT_EQ(why(call(R"({"id":"a","type":"custom","custom":{"name":"f","input":""}})")),
            "a tool call is not of the expected shape");
  EXPECT_EQ(why(call(R"({"type":"custom","function":{"name":"f","arguments":""}})")),
            "a tool call is of an unknown type");
  EXPECT_EQ(why(call(R"({"index":0,"type":"function","function":{"name":"f","arguments":""}})")),
            "a tool call is not of the expected shape");
  EXPECT_EQ(why(call(R"({"type":"function","function":{"name":"f","arguments":{}}})")),
            "a function call is not of the expected shape");
  EXPECT_EQ(why(call("1")), "a tool call is not of the expected shape");
  EXPECT_EQ(why(message(R"("function_call":"f")")), "a function call is not of the expected shape");
  EXPECT_EQ(why(answer(R"("role":"assistant","content":"a")", "", R"(,"obfuscation":"x")")),
            "a member of the answer would read as padding");
}

TEST(ToStream, WhatIsNoAnswerIsRefused) {
  const std::string head = R"({"id":"c","object":"chat.completion","created":1,"model":"m","usage":{})";
  EXPECT_EQ(why(head + R"(,"choices":[]})"), "the answer has no choices");
  EXPECT_EQ(why(head + "}"), "the answer has no choices");
  EXPECT_EQ(why(head + R"(,"choices":[{"index":1}]})"), "the choices are out of order");
  EXPECT_EQ(why(head + R"(,"choices":[{"index":0,"message":{}}]})"), "a choice was not finished");
  EXPECT_EQ(why(head + R"(,"choices":[{"index":0,"finish_reason":"stop"}]})"), "a choice is not of the expected shape");
  EXPECT_EQ(why(R"({"object":"chat.completion","created":1,"model":"m","usage":{},"choices":[]})"),
            "the answer lacks id, created or model");
  EXPECT_EQ(why(R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[]})"),
            "the answer does not tell the usage");
  EXPECT_EQ(why(R"({"object":"list"})"), "the answer is not of the expected kind");
  for (const char* text : {"", "[]", "{", "{\"a\":123456789012345678901234}"})
    EXPECT_EQ(why(text), "the answer is no JSON object, or too large a one");
  EXPECT_EQ(why("{}", Endpoint::embeddings), "the endpoint's answers have one form");
  EXPECT_EQ(why("{}", Endpoint::responses), "the endpoint's answers have one form");
}

TEST(ToStream, AStreamThatGrowsWithoutReasonIsRefused) {
  std::string choices;
  for (int i = 0; i < 3000; ++i)
    choices += std::string(i == 0 ? "" : ",") + R"({"index":)" + std::to_string(i) +
               R"(,"message":{"role":"assistant","content":""},"finish_reason":"stop"})";
  const std::string plain = R"({"object":"chat.completion","created":1,"model":"m","usage":{},"id":")" +
                            std::string(100'000, 'x') + R"(","choices":[)" + choices + "]}";
  EXPECT_EQ(why(plain), "the stream would be too large");
}

}  // namespace
}  // namespace brink::cache::inference
