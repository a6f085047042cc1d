#include "cache/inference/convert.hpp"

#include "cache/inference/sse_reader.hpp"
#include "cache/inference/stream_joiner.hpp"
#include "cache/inference/stream_writer.hpp"

namespace brink::cache::inference {
namespace {

// A stream repeats the head of the answer in each event; more than this only an odd answer would need.
constexpr std::size_t most_growth = 32;
constexpr std::size_t small_stream = 64 << 10;

const char* join_stream(Endpoint endpoint, std::string_view body, bool needs_usage, Json& answer) {
  StreamJoiner joiner(endpoint);
  SseReader reader(body.size());
  bool done = false;
  const auto add = [&] {
    if (done) return false;
    done = reader.data() == "[DONE]";
    return done || joiner.add(reader.data());
  };
  while (reader.next(body) == SseReader::Step::event) {
    if (!add()) return done ? "the stream goes on after its last event" : joiner.why();
  }
  if (reader.finish() == SseReader::Step::event && !add())
    return done ? "the stream goes on after its last event" : joiner.why();
  if (!done) return "the stream ended before its last event";
  return joiner.finish(needs_usage, answer) ? nullptr : joiner.why();
}

bool is_usage_event(std::string_view data) {
  bool has_usage = false;
  bool has_choices = false;
  JsonReader reader(data);
  reader.enter_object();
  while (reader.next_member()) {
    const bool is_choices = reader.name() == "choices";
    has_usage = has_usage || (reader.name() == "usage" && reader.peek() == JsonReader::Kind::object);
    std::string_view value;
    if (!is_choices) {
      reader.skip();
      continue;
    }
    reader.enter_array();
    while (reader.next_element()) {
      has_choices = true;
      reader.skip();
    }
  }
  return reader.done() && has_usage && !has_choices;
}

// Takes the last line that starts with "data:" off the end of `stream`; its text without white space around it.
std::string_view take_last_data(std::string_view& stream) {
  for (std::size_t at = stream.size(); (at = stream.rfind("data:", at)) != std::string_view::npos; --at) {
    if (at != 0 && stream[at - 1] != '\n' && stream[at - 1] != '\r') continue;
    std::string_view text = stream.substr(at + 5);
    text = text.substr(0, text.find_first_of("\r\n"));
    stream = stream.substr(0, at);
    while (text.starts_with(' ')) text.remove_prefix(1);
    return text;
  }
  stream = {};
  return {};
}

bool tells_usage_anywhere(std::string_view stream) {
  SseReader reader(stream.size());
  bool last = false;
  while (reader.next(stream) == SseReader::Step::event) {
    if (reader.data() != "[DONE]") last = is_usage_event(reader.data());
  }
  return last;
}

}  // namespace

Converted convert(Endpoint endpoint, std::string_view body, Form stored, Form wanted) {
  if (stored == wanted) return {std::string(body), nullptr};
  if (!has_two_forms(endpoint)) return {std::nullopt, "the endpoint's answers have one form"};
  Json answer;
  if (stored.stream) {
    const char* const why = join_stream(endpoint, body, !wanted.stream || wanted.usage, answer);
    if (why != nullptr) return {std::nullopt, why};
    if (!wanted.stream) return {answer.dump(), nullptr};
  } else {
    answer = parse_object(body);
    if (answer.is_discarded()) return {std::nullopt, "the answer is no JSON object, or too large a one"};
  }
  StreamWriter writer(endpoint, wanted.usage, body.size() * most_growth + small_stream);
  if (!writer.write(answer)) return {std::nullopt, writer.why()};
  return {std::move(writer.stream()), nullptr};
}

bool tells_usage(std::string_view stream) {
  std::string_view left = stream;
  if (!take_last_data(left).starts_with("[DONE]")) return tells_usage_anywhere(stream);
  const std::string_view data = take_last_data(left);
  JsonReader reader(data);
  // Data of several lines cannot be read from its last one.
  if (!reader.skip() || !reader.done()) return tells_usage_anywhere(stream);
  return is_usage_event(data);
}

}  // namespace brink::cache::inference
