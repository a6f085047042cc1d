#include "cache/inference/recorder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brink::cache::inference {
namespace {

using State = StreamRecorder::State;

const std::string whole =
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"},\"finish_reason\":null}]}\n\n"
    ": keep-alive\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\xc3\xa9\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n"
    "data: [DONE]\n\n";

struct Verdict {
  State state;
  std::string reason;
};

Verdict record(std::string_view stream, Endpoint endpoint = Endpoint::chat, std::uint32_t choices = 1) {
  StreamRecorder recorder(endpoint, choices, 100'000);
  recorder.feed(stream);
  recorder.finish();
  return {recorder.state(), recorder.reason() != nullptr ? recorder.reason() : ""};
}

std::string choice(int index, std::string_view finish_reason) {
  return "{\"index\":" + std::to_string(index) + ",\"delta\":{},\"finish_reason\":" + std::string(finish_reason) + "}";
}
std::string event(std::string_view choices) { return "data: {\"choices\":[" + std::string(choices) + "]}\n\n"; }
const std::string done = "data: [DONE]\n\n";

TEST(StreamRecorder, AWholeStreamIsComplete) {
  StreamRecorder recorder(Endpoint::chat, 1, 100'000);
  EXPECT_EQ(recorder.feed(whole), State::complete);
  EXPECT_EQ(recorder.finish(), State::complete);
  EXPECT_TRUE(recorder.has_usage());
}

TEST(StreamRecorder, CutsAnywhereChangeNothing) {
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    StreamRecorder recorder(Endpoint::chat, 1, 100'000);
    recorder.feed(std::string_view(whole).substr(0, cut));
    EXPECT_NE(recorder.state(), State::failed) << cut;
    recorder.feed(std::string_view(whole).substr(cut));
    EXPECT_EQ(recorder.finish(), State::complete) << cut;
    EXPECT_TRUE(recorder.has_usage());
  }
  StreamRecorder bytes(Endpoint::chat, 1, 100'000);
  for (const char c : whole) bytes.feed({&c, 1});
  EXPECT_EQ(bytes.finish(), State::complete);
}

TEST(StreamRecorder, AStreamCutOffFails) {
  const std::size_t end = whole.find("[DONE]") + 6;
  for (std::size_t size = 0; size < end; ++size) EXPECT_EQ(record(whole.substr(0, size)).state, State::failed) << size;
  EXPECT_EQ(record(whole.substr(0, end)).state, State::complete);
}

TEST(StreamRecorder, EachChoiceMustBeFinished) {
  const char* const reason = "a choice was not finished";
  EXPECT_EQ(record(event(choice(0, "null")) + done).reason, reason);
  EXPECT_EQ(record(event(choice(0, "\"\"")) + done).reason, reason);
  EXPECT_EQ(record(done).reason, reason);
  EXPECT_EQ(record(event("") + done).reason, reason);
  EXPECT_EQ(record(event(choice(0, "\"stop\"") + "," + choice(1, "null")) + done).reason, reason);
  EXPECT_EQ(record(event(choice(1, "\"stop\"")) + done).reason, reason);                     // a gap
  EXPECT_EQ(record(event(choice(0, "\"stop\"")) + done, Endpoint::chat, 2).reason, reason);  // too few
  EXPECT_EQ(record(event(choice(1, "\"stop\"")) + event(choice(0, "\"length\"")) + done, Endpoint::chat, 2).state,
            State::complete);
  EXPECT_EQ(record(event(choice(0, "\"stop\"") + "," + choice(1, "\"stop\"")) + done, Endpoint::completions).state,
            State::complete);  // several prompts
}

TEST(StreamRecorder, ErrorsFailHoweverTheyAreTold) {
  const std::string start = event(choice(0, "null"));
  const std::string end = event(choice(0, "\"stop\"")) + done;
  for (const char* error :
       {R"(data: {"error":{"message":"x"}})", R"(data: {"error":"x","choices":[]})", "event: error\ndata: {}",
        R"(data: {"object":"error","message":"x"})", R"(data: {"choices":[{"index":0,"error":{"code":1}}]})",
        R"(data: {"choices":[{"index":0,"finish_reason":"error"}]})",
        R"(data: {"choices":[{"index":0,"finish_reason":"abort"}]})"})
    EXPECT_EQ(record(start + error + "\n\n" + end).state, State::failed) << error;
  EXPECT_EQ(record(start + "data: {\"error\":null,\"choices\":[]}\n\n" + end).state, State::complete);
  EXPECT_EQ(record(start + event(R"({"index":0,"delta":{"content":"{\"error\":1}"}})") + end).state, State::complete);
}

TEST(StreamRecorder, WhatIsMalformedFails) {
  const std::string end = event(choice(0, "\"stop\"")) + done;
  for (const char* bad : {"data: {\"choices\":[", "data: x", "data:", "data: []", "data: {\"choices\":{}}",
                          "data: {\"choices\":[{\"delta\":{}}]}", "data: {\"choices\":[{\"index\":-1}]}",
                          "data: {\"choices\":[{\"index\":4096}]}", "data: {\"choices\":[{\"index\":99999999999}]}",
                          "data: {\"choices\":[1]}", "data: {} {}", "data: {\"a\":\"\xff\"}", "event: ping"})
    EXPECT_EQ(record(std::string(bad) + "\n\n" + end).state, State::failed) << bad;
  EXPECT_EQ(record("{\"choices\":[]}").state, State::failed);
}

TEST(StreamRecorder, NothingMayFollowTheEnd) {
  EXPECT_EQ(record(whole + event(choice(0, "null"))).reason, "the stream goes on after its last event");
  EXPECT_EQ(record(whole + done).state, State::failed);
  EXPECT_EQ(record(whole + "\n: bye\n\n").state, State::complete);
}

TEST(StreamRecorder, IsBounded) {
  StreamRecorder recorder(Endpoint::chat, 1, whole.size() - 1);
  recorder.feed(whole.substr(0, 50));
  EXPECT_EQ(recorder.feed(whole.substr(50)), State::too_large);
  EXPECT_EQ(recorder.finish(), State::too_large);
  StreamRecorder enough(Endpoint::chat, 1, whole.size());
  enough.feed(whole);
  EXPECT_EQ(enough.finish(), State::complete);
}

TEST(StreamRecorder, UsageIsAnObject) {
  StreamRecorder recorder(Endpoint::chat, 1, 1000);
  recorder.feed("data: {\"choices\":[" + choice(0, "\"stop\"") + "],\"usage\":null}\n\n" + done);
  EXPECT_EQ(recorder.finish(), State::complete);
  EXPECT_FALSE(recorder.has_usage());
}

TEST(StreamRecorder, ResponsesEndWithCompleted) {
  const std::string created = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n";
  const auto last = [](std::string_view type) { return "data: {\"type\":\"" + std::string(type) + "\"}\n\n"; };
  const auto state = [](const std::string& stream) { return record(stream, Endpoint::responses).state; };
  EXPECT_EQ(state(created + last("response.completed")), State::complete);
  EXPECT_EQ(state(created + last("response.completed") + done), State::complete);
  for (const char* type : {"response.failed", "response.incomplete", "error", "other", "response.output_text.done"})
    EXPECT_EQ(state(created + last(type)), State::failed) << type;
  EXPECT_EQ(state(created + done), State::failed);
  EXPECT_EQ(state(created + last("response.completed") + last("response.created")), State::failed);
}

TEST(StreamRecorder, OtherEndpointsHaveNoStreams) {
  EXPECT_EQ(record(whole, Endpoint::embeddings).reason, "the endpoint has no streams");
}

std::string plain(Endpoint endpoint, std::string_view body, unsigned status = 200, std::uint32_t choices = 1) {
  const char* const refused = plain_refused(endpoint, choices, status, body);
  return refused != nullptr ? refused : "";
}

TEST(PlainAnswer, TheShapeOfEachEndpointIsTaken) {
  EXPECT_EQ(plain(Endpoint::chat, R"({"choices":[{"message":{},"finish_reason":"stop"}]})"), "");
  EXPECT_EQ(plain(Endpoint::completions, R"({"choices":[{"text":"","finish_reason":"length"}],"error":null})"), "");
  EXPECT_EQ(plain(Endpoint::embeddings, R"({"object":"list","data":[{"embedding":[1]}]})"), "");
  EXPECT_EQ(plain(Endpoint::rerank, R"({"results":[{"index":0}]})"), "");
  EXPECT_EQ(plain(Endpoint::moderations, R"({"results":[{"flagged":false}]})"), "");
  EXPECT_EQ(plain(Endpoint::responses, R"({"status":"completed","output":[{}],"error":null})"), "");
}

TEST(PlainAnswer, OnlyStatus200) {
  const std::string body = R"({"choices":[{"message":{},"finish_reason":"stop"}]})";
  for (const unsigned status : {201U, 206U, 302U, 400U, 429U, 500U})
    EXPECT_EQ(plain(Endpoint::chat, body, status), "the status is not 200");
  EXPECT_NE(plain(Endpoint::other, body), "");
}

TEST(PlainAnswer, ErrorsAndOtherShapesAreRefused) {
  EXPECT_EQ(plain(Endpoint::chat, R"({"choices":[{"message":{},"finish_reason":"stop"}],"error":{"code":1}})"),
            "the answer tells an error");
  EXPECT_EQ(plain(Endpoint::embeddings, R"({"object":"error","data":[1]})"), "the answer tells an error");
  for (const char* body :
       {R"({"choices":[{"message":{},"finish_reason":null}]})", R"({"choices":[{"message":{}}]})",
        R"({"choices":[{"finish_reason":"stop"}]})", R"({"choices":[{"message":"x","finish_reason":"stop"}]})",
        R"({"choices":[{"message":{},"finish_reason":"error"}]})",
        R"({"choices":[{"message":{},"finish_reason":"abort"}]})",
        R"({"choices":[{"message":{},"finish_reason":"stop","error":{}}]})", R"({"choices":[1]})"})
    EXPECT_EQ(plain(Endpoint::chat, body), "a choice was not finished") << body;
  EXPECT_EQ(plain(Endpoint::chat, R"({"choices":[]})"), "the answer has no results");
  EXPECT_EQ(plain(Endpoint::rerank, "{}"), "the answer has no results");
  for (const char* body : {"", "null", "[]", "{\"choices\":1}", "{", "<html>", "{} x"})
    EXPECT_EQ(plain(Endpoint::chat, body), "the answer is no JSON object of the expected shape") << body;
  EXPECT_EQ(plain(Endpoint::responses, R"({"status":"incomplete","output":[{}]})"), "the response is not completed");
  EXPECT_EQ(plain(Endpoint::chat, R"({"choices":[{"message":{},"finish_reason":"stop"}]})", 200, 2),
            "the answer has too few choices");
}

TEST(PlainAnswer, EveryPrefixIsRefused) {
  const std::string body =
      R"({"id":"x","choices":[{"message":{"content":"\u00e9"},"finish_reason":"stop"}],"usage":{"a":1}})";
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_NE(plain(Endpoint::chat, body.substr(0, size)), "");
  EXPECT_EQ(plain(Endpoint::chat, body), "");
}

}  // namespace
}  // namespace brink::cache::inference
