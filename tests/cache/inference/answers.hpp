// Short ways to write and read answers of models, for the tests of their conversion.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cache/inference/convert.hpp"
#include "cache/inference/sse_reader.hpp"

namespace brink::cache::inference {

using TestJson = nlohmann::json;

constexpr Form plain_form{false, false};
constexpr Form stream_form{true, false};
constexpr Form usage_form{true, true};

inline std::string event_of(std::string_view text) { return "data: " + std::string(text) + "\n\n"; }

// A chat event around the inside of its list of choices, with further members.
inline std::string chat_event(std::string_view choices, std::string_view more = "") {
  return event_of(R"({"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[)" +
                  std::string(choices) + "]" + std::string(more) + "}");
}

inline const std::string chat_opening =
    chat_event(R"({"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null})");
inline const std::string chat_end = chat_event(R"({"index":0,"delta":{},"finish_reason":"stop"})");
inline const std::string usage_end =
    chat_event("", R"(,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3})") + event_of("[DONE]");

// A chat stream of one choice with this inside of deltas between its first and its last event.
inline std::string chat_stream(const std::vector<std::string>& deltas) {
  std::string stream = chat_opening;
  for (const std::string& delta : deltas)
    stream += chat_event(R"({"index":0,"delta":{)" + delta + R"(},"finish_reason":null})");
  return stream + chat_end + usage_end;
}

// The events of a stream but for [DONE].
inline std::vector<TestJson> events_of(std::string_view stream) {
  std::vector<TestJson> events;
  SseReader reader(stream.size());
  while (reader.next(stream) == SseReader::Step::event) {
    if (reader.data() != "[DONE]") events.push_back(TestJson::parse(reader.data()));
  }
  return events;
}

// {"refused": why} where there is no conversion.
inline TestJson to_plain(std::string_view stream, Endpoint endpoint = Endpoint::chat) {
  const Converted made = convert(endpoint, stream, usage_form, plain_form);
  return made.body ? TestJson::parse(*made.body) : TestJson{{"refused", made.refused}};
}

inline TestJson message_of(std::string_view stream) {
  const TestJson plain = to_plain(stream);
  return plain.contains("refused") ? plain : plain["choices"][0]["message"];
}

inline std::string to_stream(std::string_view plain, bool usage = true, Endpoint endpoint = Endpoint::chat) {
  const Converted made = convert(endpoint, plain, plain_form, usage ? usage_form : stream_form);
  return made.body ? *made.body : std::string("refused: ") + made.refused;
}

}  // namespace brink::cache::inference
