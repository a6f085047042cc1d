#include <gtest/gtest.h>

#include "cache/inference/recorder.hpp"
#include "tests/cache/inference/answers.hpp"

namespace brink::cache::inference {
namespace {

struct Answer {
  Endpoint endpoint;
  std::string plain;
};

// As OpenAI, vLLM and llama.cpp write them, with all the members they have.
std::vector<Answer> answers() {
  return {
      {Endpoint::chat, R"({"id":"chatcmpl-1","object":"chat.completion","created":1741569952,"model":"gpt-4.1",
        "choices":[{"index":0,"message":{"role":"assistant","content":"Hello \u00e9 \ud83d\ude00!\n","refusal":null,
        "annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,
        "total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":
        {"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1"})"},
      {Endpoint::chat, R"({"id":"chatcmpl-2","object":"chat.completion","created":1,"model":"m","choices":[
        {"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[
          {"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Z\u00fcrich\"}"}},
          {"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]},
         "logprobs":null,"finish_reason":"tool_calls"},
        {"index":1,"message":{"role":"assistant","content":"No.","refusal":"I will not"},"logprobs":{"content":[
          {"token":"No","logprob":-0.31725305,"bytes":[78,111],"top_logprobs":[{"token":"No","logprob":-0.31725305,
          "bytes":null}]},{"token":".","logprob":-9999.0,"bytes":[46],"top_logprobs":[]}],"refusal":[{"token":"I",
          "logprob":-1e-7,"bytes":[73],"top_logprobs":[]}]},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})"},
      {Endpoint::chat, R"({"id":"chatcmpl-3","object":"chat.completion","created":1,"model":"q","choices":[{"index":0,
        "message":{"role":"assistant","content":"4","refusal":null,"annotations":null,"audio":null,"function_call":null,
        "tool_calls":[],"reasoning":"2 and 2","reasoning_content":"2 and 2"},"logprobs":null,"finish_reason":"stop",
        "stop_reason":151643,"token_ids":[19,151645]}],"service_tier":null,"system_fingerprint":null,
        "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":null},
        "prompt_logprobs":[null,{"9906":{"logprob":-2.5,"rank":3,"decoded_token":"Hi"}}],"prompt_token_ids":[1,2],
        "kv_transfer_params":null})"},
      {Endpoint::chat, R"({"choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":""}}],
        "created":1,"model":"l","system_fingerprint":"b1","object":"chat.completion","usage":{"completion_tokens":0,
        "prompt_tokens":5,"total_tokens":5},"id":"chatcmpl-4","timings":{"prompt_n":5,"prompt_ms":12.5}})"},
      {Endpoint::chat, R"({"id":"chatcmpl-5","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,
        "message":{"role":"assistant","content":null,"refusal":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}},
        "logprobs":null,"finish_reason":"function_call"}],"usage":{"total_tokens":3}})"},
      {Endpoint::completions, R"({"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[
        {"index":0,"text":" a b","logprobs":{"tokens":[" a"," b"],"token_logprobs":[null,-0.5],"top_logprobs":[null,
        {" b":-0.5}],"text_offset":[0,2]},"finish_reason":"length","stop_reason":null,"prompt_logprobs":null,
        "prompt_token_ids":[1],"token_ids":[5,6]},
        {"index":1,"text":"","logprobs":null,"finish_reason":"stop","stop_reason":"END"}],
        "usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"system_fingerprint":"fp"})"}};
}

std::string must(Converted made) {
  EXPECT_TRUE(made.body.has_value()) << made.refused;
  return made.body.value_or("{}");
}

TEST(RoundTrip, PlainToStreamToPlain) {
  for (const auto& [endpoint, plain] : answers()) {
    const std::string stream = must(convert(endpoint, plain, plain_form, usage_form));
    EXPECT_EQ(TestJson::parse(must(convert(endpoint, stream, usage_form, plain_form))), TestJson::parse(plain));
  }
}

TEST(RoundTrip, StreamToPlainToStreamToPlain) {
  std::vector<std::pair<Endpoint, std::string>> streams = {
      {Endpoint::chat, chat_stream({R"("content":"Hel")", R"("content":"lo")"})},
      {Endpoint::chat,
       chat_stream({R"("reasoning_content":"hm")", R"("reasoning_content":" so")", R"("content":"x")",
                    R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}])",
                    R"("tool_calls":[{"index":0,"function":{"arguments":"}"}}])"})}};
  for (const auto& [endpoint, plain] : answers())
    streams.emplace_back(endpoint, must(convert(endpoint, plain, plain_form, usage_form)));
  for (const auto& [endpoint, stream] : streams) {
    const std::string plain = must(convert(endpoint, stream, usage_form, plain_form));
    const std::string again = must(convert(endpoint, plain, plain_form, usage_form));
    EXPECT_EQ(TestJson::parse(must(convert(endpoint, again, usage_form, plain_form))), TestJson::parse(plain));
  }
}

TEST(RoundTrip, WhatIsMadeWouldBeStored) {
  for (const auto& [endpoint, plain] : answers()) {
    const auto choices = static_cast<std::uint32_t>(TestJson::parse(plain)["choices"].size());
    EXPECT_EQ(plain_refused(endpoint, choices, 200, plain), nullptr);
    for (const Form form : {usage_form, stream_form}) {
      const std::string stream = must(convert(endpoint, plain, plain_form, form));
      StreamRecorder recorder(endpoint, choices, stream.size());
      recorder.feed(stream);
      EXPECT_EQ(recorder.finish(), StreamRecorder::State::complete);
      EXPECT_EQ(recorder.has_usage(), form.usage);
      EXPECT_EQ(tells_usage(stream), form.usage);
    }
    const std::string back =
        must(convert(endpoint, must(convert(endpoint, plain, plain_form, usage_form)), usage_form, plain_form));
    EXPECT_EQ(plain_refused(endpoint, choices, 200, back), nullptr);
  }
}

TEST(RoundTrip, TheSameFormComesBackAsItIs) {
  const std::string odd = ": as it came\r\ndata: anything\r\n\r\n";
  EXPECT_EQ(convert(Endpoint::chat, odd, stream_form, stream_form).body, odd);
  EXPECT_EQ(convert(Endpoint::responses, odd, usage_form, usage_form).body, odd);
  EXPECT_EQ(convert(Endpoint::chat, odd, Form{false, true}, plain_form).body, odd);
}

TEST(RoundTrip, UsageIsTakenOutOfAStreamOrPutIn) {
  const std::string stream = chat_stream({R"("content":"x")"});
  const std::string without = must(convert(Endpoint::chat, stream, usage_form, stream_form));
  EXPECT_FALSE(tells_usage(without));
  for (const TestJson& event : events_of(without)) EXPECT_EQ(event["choices"].size(), 1U);
  EXPECT_STREQ(convert(Endpoint::chat, without, stream_form, usage_form).refused, "the stream does not tell the usage");
  EXPECT_EQ(convert(Endpoint::chat, without, stream_form, plain_form).body, std::nullopt);
  const std::string inside = chat_opening +
                             chat_event(R"({"index":0,"delta":{},"finish_reason":"stop"})", R"(,"usage":{"a":1})") +
                             event_of("[DONE]");
  EXPECT_FALSE(tells_usage(inside));  // it has choices: a client that did not ask for usage reads it all the same
  const std::vector<TestJson> events = events_of(must(convert(Endpoint::chat, inside, stream_form, usage_form)));
  EXPECT_EQ(events.back()["choices"], TestJson::array());
  EXPECT_EQ(events.back()["usage"], TestJson::parse(R"({"a":1})"));
}

TEST(TellsUsage, ReadsTheLastEvent) {
  EXPECT_TRUE(tells_usage(chat_stream({})));
  EXPECT_TRUE(tells_usage("data:{\"usage\":{},\r\ndata:\"choices\":[]}\r\n\r\ndata:[DONE]\r\n\r\n"));
  EXPECT_TRUE(tells_usage(usage_end + ": bye\n\n"));
  EXPECT_FALSE(tells_usage(chat_opening + chat_end + event_of("[DONE]")));
  EXPECT_FALSE(tells_usage(""));
  EXPECT_FALSE(tells_usage("data: [DONE]"));
  EXPECT_FALSE(tells_usage(chat_event("", R"(,"usage":{})") + chat_end + event_of("[DONE]")));
  EXPECT_FALSE(tells_usage(chat_event(R"({"index":0,"delta":{"content":"data: {\"usage\":{}}\ndata: [DONE]"}})") +
                           event_of("[DONE]")));
}

// Whatever the bytes are: no crash, and what is made is valid.
TEST(RoundTrip, DamagedAnswersAreConvertedWholeOrNotAtAll) {
  unsigned random = 1;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U, random >> 8; };
  const auto all = answers();
  for (int round = 0; round < 3000; ++round) {
    const auto& [endpoint, plain] = all[next() % all.size()];
    std::string text = plain;
    Form stored = plain_form;
    if (round % 2 == 0) {
      text = must(convert(endpoint, plain, plain_form, usage_form));
      stored = usage_form;
    }
    for (unsigned changes = 1 + next() % 3; changes-- != 0;) {
      constexpr std::string_view bytes = "{}[]\",:\\01e-ntf\n\r";
      text[next() % text.size()] = bytes[next() % bytes.size()];
    }
    const Converted made = convert(endpoint, text, stored, stored.stream ? plain_form : usage_form);
    ASSERT_NE(made.body.has_value(), made.refused != nullptr);
    if (!made.body) continue;
    if (stored.stream)
      EXPECT_TRUE(TestJson::accept(*made.body));
    else
      EXPECT_NO_THROW(events_of(*made.body));
  }
}

}  // namespace
}  // namespace brink::cache::inference
