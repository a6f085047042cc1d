#include <gtest/gtest.h>

#include "tests/cache/inference/answers.hpp"

namespace brink::cache::inference {
namespace {

std::string why(std::string_view stream, Endpoint endpoint = Endpoint::chat) {
  const Converted made = convert(endpoint, stream, usage_form, plain_form);
  return made.body ? "" : made.refused;
}

TEST(ToPlain, AChatStreamBecomesItsCompletion) {
  EXPECT_EQ(to_plain(chat_stream({R"("content":"Hel")", R"("content":"lo\u00e9")"})), TestJson::parse(R"({
    "id":"c1","object":"chat.completion","created":5,"model":"m",
    "choices":[{"index":0,"message":{"role":"assistant","content":"Hello\u00e9"},"finish_reason":"stop"}],
    "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})"));
}

TEST(ToPlain, EachKindOfTextIsJoined) {
  for (const char* name : {"content", "refusal", "reasoning", "reasoning_content"}) {
    const std::string start = "\"" + std::string(name) + "\":";
    const TestJson message =
        message_of(chat_stream({start + "null", start + "\"a\"", start + "\"\"", start + "\"b\""}));
    EXPECT_EQ(message[name], "ab") << name;
  }
}

TEST(ToPlain, NullStaysNullUnlessAValueComes) {
  const std::string opening =
      chat_event(R"({"index":0,"delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null})");
  const TestJson plain = to_plain(opening + chat_end + usage_end);
  EXPECT_EQ(plain["choices"][0], TestJson::parse(R"({"index":0,"message":{"role":"assistant","content":null,
      "refusal":null},"logprobs":null,"finish_reason":"stop"})"));
}

TEST(ToPlain, ContentIsThereEvenIfNoEventHasIt) {
  const TestJson message = to_plain(chat_event(R"({"index":0,"delta":{"role":"assistant"}})") + chat_end +
                                    usage_end)["choices"][0]["message"];
  EXPECT_EQ(message, TestJson::parse(R"({"role":"assistant","content":null})"));
}

TEST(ToPlain, ToolCallsAreJoinedByIndex) {
  const TestJson message = message_of(chat_stream(
      {R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}])",
       R"("tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}])",
       R"("tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g"}},{"index":0,"function":{"arguments":":1}"}}])",
       R"("tool_calls":[{"index":1,"id":"","type":"function","function":{"name":"","arguments":null}}])"}));
  EXPECT_EQ(message["tool_calls"], TestJson::parse(R"([
      {"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":""}}])"));
}

TEST(ToPlain, AFunctionCallIsJoined) {
  const TestJson message =
      message_of(chat_stream({R"("function_call":null)", R"("function_call":{"name":"f","arguments":""})",
                              R"("function_call":{"arguments":"{"})", R"("function_call":{"arguments":"}"})"}));
  EXPECT_EQ(message["function_call"], TestJson::parse(R"({"name":"f","arguments":"{}"})"));
}

TEST(ToPlain, AnnotationsAreJoined) {
  EXPECT_EQ(message_of(chat_stream(
                {R"("annotations":[])", R"("annotations":[{"a":1}])", R"("annotations":[{"b":2}])"}))["annotations"],
            TestJson::parse(R"([{"a":1},{"b":2}])"));
}

TEST(ToPlain, LogprobsOfContentAndRefusalAreJoined) {
  const auto piece = [](std::string_view logprobs) {
    return chat_event(R"({"index":0,"delta":{"content":"x"},"logprobs":)" + std::string(logprobs) + "}");
  };
  const TestJson plain =
      to_plain(chat_opening + piece("null") + piece(R"({"content":[{"token":"a","logprob":-0.1}],"refusal":null})") +
               piece(R"({"content":[{"token":"b","logprob":-0.25}],"refusal":[{"token":"c"}]})") +
               piece(R"({"content":null,"refusal":[{"token":"d"}]})") + chat_end + usage_end);
  EXPECT_EQ(plain["choices"][0]["logprobs"],
            TestJson::parse(R"({"content":[{"token":"a","logprob":-0.1},{"token":"b","logprob":-0.25}],
                                "refusal":[{"token":"c"},{"token":"d"}]})"));
}

TEST(ToPlain, ChoicesComeTogetherByIndex) {
  const auto piece = [](int index, std::string_view delta, std::string_view finish) {
    return R"({"index":)" + std::to_string(index) + R"(,"delta":{)" + std::string(delta) + R"(},"finish_reason":)" +
           std::string(finish) + "}";
  };
  const TestJson plain = to_plain(chat_event(piece(1, R"("role":"assistant","content":"b")", "null")) +
                                  chat_event(piece(0, R"("role":"assistant","content":"a")", "null") + "," +
                                             piece(1, R"("content":"d")", "\"length\"")) +
                                  chat_event(piece(0, R"("content":"c")", "\"stop\"")) + usage_end);
  ASSERT_EQ(plain["choices"].size(), 2U);
  EXPECT_EQ(plain["choices"][0]["message"]["content"], "ac");
  EXPECT_EQ(plain["choices"][1]["message"]["content"], "bd");
  EXPECT_EQ(plain["choices"][1]["finish_reason"], "length");
}

TEST(ToPlain, MembersOfEnginesAreKept) {
  const std::string stream =
      chat_event(R"({"index":0,"delta":{"role":"assistant","content":"x"},"token_ids":[1,2],"stop_reason":null})",
                 R"(,"prompt_token_ids":[7],"system_fingerprint":null,"provider":"p","service_tier":"default")") +
      chat_event(R"({"index":0,"delta":{},"token_ids":[3],"stop_reason":128001,"finish_reason":"stop"})",
                 R"(,"system_fingerprint":"fp","provider":"p","obfuscation":"aGk","prompt_logprobs":null)") +
      chat_event("", R"(,"usage":{"total_tokens":3},"provider":"p","obfuscation":"b","timings":{"n":1})") +
      event_of("[DONE]");
  EXPECT_EQ(to_plain(stream), TestJson::parse(R"({
    "id":"c1","object":"chat.completion","created":5,"model":"m","system_fingerprint":"fp","provider":"p",
    "service_tier":"default","prompt_token_ids":[7],"timings":{"n":1},"prompt_logprobs":null,
    "choices":[{"index":0,"message":{"role":"assistant","content":"x"},"token_ids":[1,2,3],"stop_reason":128001,
                "finish_reason":"stop"}],
    "usage":{"total_tokens":3}})"));
}

TEST(ToPlain, ATextStreamBecomesItsCompletion) {
  const auto piece = [](std::string_view choices, std::string_view more = "") {
    return event_of(R"({"id":"t","object":"text_completion","created":5,"model":"m","choices":[)" +
                    std::string(choices) + "]" + std::string(more) + "}");
  };
  const std::string stream =
      piece(
          R"({"index":0,"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[null],"top_logprobs":[null],"text_offset":[0]}})") +
      piece(
          R"({"index":0,"text":"b","logprobs":{"tokens":["b"],"token_logprobs":[-1.5],"top_logprobs":[{"b":-1.5}],"text_offset":[1]}})") +
      piece(R"({"index":0,"text":"","logprobs":null,"finish_reason":"length","stop_reason":null})");
  const std::string end = piece("", R"(,"usage":{"total_tokens":2})") + event_of("[DONE]");
  EXPECT_EQ(to_plain(stream + end, Endpoint::completions), TestJson::parse(R"({
    "id":"t","object":"text_completion","created":5,"model":"m",
    "choices":[{"index":0,"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1.5],
                "top_logprobs":[null,{"b":-1.5}],"text_offset":[0,1]},"finish_reason":"length","stop_reason":null}],
    "usage":{"total_tokens":2}})"));
  const std::string anew = piece(R"({"index":0,"text":"c","logprobs":{"text_offset":[0]}})");
  EXPECT_EQ(why(piece(R"({"index":0,"text":"c","logprobs":{"text_offset":[4]}})") + anew + stream + end,
                Endpoint::completions),
            "offsets are counted anew in each event");
}

TEST(ToPlain, UsageMustBeToldOnceAndAtTheEnd) {
  const std::string usage = R"(,"usage":{"total_tokens":3})";
  const std::string done = event_of("[DONE]");
  EXPECT_EQ(why(chat_opening + chat_end + done), "the stream does not tell the usage");
  const std::string finish = R"({"index":0,"delta":{},"finish_reason":"stop"})";
  EXPECT_EQ(why(chat_opening + chat_event(finish, usage) + done), "");  // with the last choice, as some engines do
  EXPECT_EQ(why(chat_opening + chat_event(finish, usage) + usage_end), "usage is told more than once");
  EXPECT_EQ(why(chat_event(R"({"index":0,"delta":{"role":"assistant"}})", usage) + chat_end + done),
            "usage is told before the end");
  EXPECT_EQ(why(chat_event("", usage) + chat_opening + chat_end + done), "usage is told before the end");
}

TEST(ToPlain, WhatCannotBeJoinedIsRefused) {
  const char* const pieces = "a member comes in several pieces, and how they are joined is not known";
  EXPECT_EQ(why(chat_stream({R"("thinking":"a")", R"("thinking":"b")"})), pieces);
  EXPECT_EQ(why(chat_stream({R"("thinking":"a")", R"("thinking":"a")"})), pieces);
  EXPECT_EQ(why(chat_stream({R"("thinking":"a")", R"("thinking":null)"})), "");
  EXPECT_EQ(why(chat_stream({R"("audio":{"id":"x"})"})), "audio cannot be joined");
  EXPECT_EQ(why(chat_stream({R"("content":[])"})), "a member is of another type than expected");
  const auto call = [](std::string_view piece) { return R"("tool_calls":[)" + std::string(piece) + "]"; };
  EXPECT_EQ(why(chat_stream({call(R"({"index":0,"type":"custom","function":{"name":"f"}})")})),
            "a tool call is of an unknown type");
  EXPECT_EQ(why(chat_stream({call(R"({"index":1,"function":{"name":"f"}})")})), "there is a gap in the tool calls");
  EXPECT_EQ(why(chat_stream({call(R"({"function":{"name":"f"}})")})), "a tool call has no index");
  EXPECT_EQ(why(chat_stream({call(R"({"index":0,"id":"a"})")})), "a tool call has no function");
  EXPECT_EQ(why(chat_stream({call(R"({"index":0,"function":{"arguments":"{}"}})")})), "a function call has no name");
  EXPECT_EQ(why(chat_stream(
                {call(R"({"index":0,"function":{"name":"f"}})"), call(R"({"index":0,"function":{"name":"f"}})")})),
            pieces);
  EXPECT_EQ(
      why(chat_stream({call(R"({"index":0,"id":"a","function":{"name":"f"}})"), call(R"({"index":0,"id":"b"})")})),
      "a member changes from event to event");
  EXPECT_EQ(why(chat_stream({call(R"({"index":0,"function":{"name":"f","arguments":{}}})")})),
            "a member is of another type than expected");
}

TEST(ToPlain, EventsMustAgree) {
  const std::string other = R"({"id":"c2","object":"chat.completion.chunk","created":5,"model":"m","choices":[]})";
  EXPECT_EQ(why(chat_opening + event_of(other) + chat_end + usage_end), "a member changes from event to event");
  EXPECT_EQ(why(chat_opening + chat_event("", R"(,"x":1)") + chat_end + chat_event("", R"(,"x":2)") + usage_end),
            "a member changes from event to event");
  EXPECT_EQ(why(chat_opening + chat_event("", R"(,"x":1)") + chat_end + chat_event("", R"(,"x":1)") + usage_end),
            "a member comes in some events, and what it means is not known");
  EXPECT_EQ(why(chat_opening + event_of(R"({"object":"other","choices":[]})") + chat_end + usage_end),
            "an event is not of the expected kind");
}

TEST(ToPlain, WhatIsNotWholeIsRefused) {
  EXPECT_EQ(why(chat_opening + chat_end), "the stream ended before its last event");
  EXPECT_EQ(why(chat_opening + usage_end), "a choice was not finished");
  EXPECT_EQ(why(chat_end + usage_end), "a choice has no role");
  EXPECT_EQ(why(usage_end), "there is a gap in the choices");
  EXPECT_EQ(why(chat_event(R"({"index":1,"delta":{"role":"assistant"},"finish_reason":"stop"})") + usage_end),
            "there is a gap in the choices");
  EXPECT_EQ(why(chat_opening + chat_end + usage_end + chat_end), "the stream goes on after its last event");
  EXPECT_EQ(why(chat_opening + chat_end + chat_end + usage_end),
            "a member comes in several pieces, and how they are joined is not known");
  for (const char* bad : {"x", "[]", "{\"choices\":[", "{\"a\":123456789012345678901234}"})
    EXPECT_EQ(why(chat_opening + event_of(bad) + chat_end + usage_end),
              "an event is no JSON object, or too large a one");
  const std::string whole = chat_stream({R"("content":"x")"});
  for (std::size_t size = 0; size < whole.find("[DONE]") + 6; ++size) EXPECT_NE(why(whole.substr(0, size)), "") << size;
}

TEST(ToPlain, WhatATreeWouldCostIsBounded) {
  std::string members;
  for (int i = 0; i < 1100; ++i) members += ",\"x" + std::to_string(i) + "\":1";
  EXPECT_NE(why(chat_opening + chat_event("", members) + chat_end + usage_end), "");
  std::string events;
  for (int i = 0; i < 1100; ++i) events += chat_event("", ",\"x" + std::to_string(i) + "\":1");
  EXPECT_EQ(why(chat_opening + events + chat_end + usage_end), "there are too many members");
  EXPECT_NE(why(chat_stream({"\"x\":" + std::string(100'000, '[') + std::string(100'000, ']')})), "");
  EXPECT_EQ(why(chat_event(R"({"index":5000,"delta":{}})") + chat_opening + chat_end + usage_end),
            "there are too many choices");
}

TEST(ToPlain, CommentsAndLineEndsOfAnyKindAreRead) {
  const std::string stream = chat_stream({R"("content":"x")"});
  std::string other = ": hello\r\n\r\n";
  for (const char c : stream) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(to_plain(other), to_plain(stream));
}

}  // namespace
}  // namespace brink::cache::inference
