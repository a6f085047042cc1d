#include "cache/inference/recorder.hpp"

#include <algorithm>
#include <string>

#include "cache/inference/json_reader.hpp"

namespace brink::cache::inference {
namespace {

using Kind = JsonReader::Kind;

// Goes over the value of an `error` member: anything but null and false tells one.
bool tells_error(JsonReader& reader) {
  std::string_view value;
  return reader.skip(value) && value != "null" && value != "false";
}

// Goes over a string member that may be null or absent. Anything else reads as empty.
std::string text_of(JsonReader& reader) {
  std::string text;
  if (reader.peek() == Kind::string)
    reader.read_string(text);
  else
    reader.skip();
  return text;
}

bool is_good_end(std::string_view finish_reason) { return finish_reason != "error" && finish_reason != "abort"; }

struct Plain {
  bool error = false;
  bool malformed_choice = false;
  bool has_list = false;    // of the endpoint's name, with something in it
  std::size_t choices = 0;  // in the list
  std::string status;
};

bool good_choice(JsonReader& reader, Endpoint endpoint) {
  std::string finish_reason;
  bool has_text = false;
  bool error = false;
  reader.enter_object();
  while (reader.next_member()) {
    if (reader.name() == "finish_reason") {
      finish_reason = text_of(reader);
    } else if (reader.name() == "error") {
      error = tells_error(reader);
    } else {
      const bool is_text = reader.name() == (endpoint == Endpoint::chat ? "message" : "text");
      has_text = has_text || (is_text && reader.peek() == (endpoint == Endpoint::chat ? Kind::object : Kind::string));
      reader.skip();
    }
  }
  return has_text && !error && !finish_reason.empty() && is_good_end(finish_reason);
}

void read_list(JsonReader& reader, Endpoint endpoint, Plain& plain) {
  reader.enter_array();
  while (reader.next_element()) {
    ++plain.choices;
    if (!has_two_forms(endpoint))
      reader.skip();
    else if (reader.peek() != Kind::object || !good_choice(reader, endpoint)) {
      plain.malformed_choice = true;
      return;
    }
  }
  plain.has_list = plain.choices != 0;
}

std::string_view list_name(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::chat:
    case Endpoint::completions:
      return "choices";
    case Endpoint::embeddings:
      return "data";
    case Endpoint::rerank:
    case Endpoint::moderations:
      return "results";
    case Endpoint::responses:
      return "output";
    case Endpoint::other:
      break;
  }
  return {};
}

}  // namespace

StreamRecorder::StreamRecorder(Endpoint endpoint, std::uint32_t choices, std::size_t max_bytes)
    : reader_(max_bytes), endpoint_(endpoint), wanted_(choices), left_(max_bytes) {
  if (!has_two_forms(endpoint) && endpoint != Endpoint::responses) fail("the endpoint has no streams");
}

StreamRecorder::State StreamRecorder::fail(const char* reason) {
  reason_ = reason;
  return state_ = State::failed;
}

StreamRecorder::State StreamRecorder::feed(std::string_view bytes) {
  const auto is_final = [this] { return state_ == State::failed || state_ == State::too_large; };
  if (is_final()) return state_;
  if (bytes.size() > left_) {
    reason_ = "the stream is too large";
    return state_ = State::too_large;
  }
  left_ -= bytes.size();
  while (!is_final() && reader_.next(bytes) == SseReader::Step::event) on_event();
  return state_;
}

StreamRecorder::State StreamRecorder::finish() {
  if (state_ == State::failed || state_ == State::too_large) return state_;
  if (reader_.finish() == SseReader::Step::event) on_event();
  return state_ == State::open ? fail("the stream ended before its last event") : state_;
}

void StreamRecorder::on_event() {
  const bool is_done = reader_.data() == "[DONE]";
  if (state_ == State::complete && !(is_done && endpoint_ == Endpoint::responses)) {
    fail("the stream goes on after its last event");
    return;
  }
  if (is_done) return on_done();
  if (reader_.event() == "error") {
    fail("the stream tells an error");
    return;
  }
  JsonReader reader(reader_.data());
  if (endpoint_ == Endpoint::responses)
    on_response(reader);
  else
    on_completion(reader);
  if (!reader.done() && state_ != State::failed) fail("an event is no JSON object of the expected shape");
}

void StreamRecorder::on_completion(JsonReader& reader) {
  bool tells_usage = false;
  choices_here_ = 0;
  reader.enter_object();
  while (state_ == State::open && reader.next_member()) {
    if (reader.name() == "choices") {
      on_choices(reader);
    } else if (reader.name() == "error") {
      if (tells_error(reader)) fail("the stream tells an error");
    } else if (reader.name() == "object") {
      if (text_of(reader) == "error") fail("the stream tells an error");
    } else {
      tells_usage = tells_usage || (reader.name() == "usage" && reader.peek() == Kind::object);
      reader.skip();
    }
  }
  has_usage_ = has_usage_ || (tells_usage && choices_here_ == 0);
}

void StreamRecorder::on_choices(JsonReader& reader) {
  reader.enter_array();
  while (state_ == State::open && reader.next_element()) on_choice(reader);
}

void StreamRecorder::on_choice(JsonReader& reader) {
  ++choices_here_;
  std::size_t index = max_choices;
  std::string finish_reason;
  bool error = false;
  reader.enter_object();
  while (reader.next_member()) {
    if (reader.name() == "index")
      reader.read_index(index);
    else if (reader.name() == "finish_reason")
      finish_reason = text_of(reader);
    else if (reader.name() == "error")
      error = tells_error(reader);
    else
      reader.skip();
  }
  if (!reader.ok()) return;
  if (error || !is_good_end(finish_reason)) {
    fail("a choice ended with an error");
    return;
  }
  if (index >= max_choices) {
    fail("a choice has no index");
    return;
  }
  if (index >= seen_.size()) {
    seen_.resize(index + 1);
    finished_.resize(index + 1);
  }
  seen_[index] = true;
  if (!finish_reason.empty()) finished_[index] = true;
}

void StreamRecorder::on_response(JsonReader& reader) {
  std::string type;
  reader.enter_object();
  while (reader.next_member()) {
    if (reader.name() == "type")
      type = text_of(reader);
    else
      reader.skip();
  }
  if (!reader.ok()) return;
  if (type == "error" || type == "response.failed" || type == "response.incomplete") {
    fail("the stream tells an error");
  } else if (type == "response.completed") {
    state_ = State::complete;
  } else if (!type.starts_with("response.")) {
    fail("an event is no JSON object of the expected shape");
  }
}

void StreamRecorder::on_done() {
  if (endpoint_ == Endpoint::responses) {
    if (state_ == State::open) fail("the stream ended before its last event");
    return;
  }
  const bool all = std::find(finished_.begin(), finished_.end(), false) == finished_.end();
  if (seen_.empty() || seen_.size() < wanted_ || !all) {
    fail("a choice was not finished");
    return;
  }
  state_ = State::complete;
}

const char* plain_refused(Endpoint endpoint, std::uint32_t choices, unsigned status, std::string_view body) {
  if (endpoint == Endpoint::other) return "the endpoint is not known to the cache";
  if (status != 200) return "the status is not 200";
  Plain plain;
  JsonReader reader(body);
  reader.enter_object();
  while (!plain.malformed_choice && reader.next_member()) {
    if (reader.name() == list_name(endpoint))
      read_list(reader, endpoint, plain);
    else if (reader.name() == "error")
      plain.error = tells_error(reader) || plain.error;
    else if (reader.name() == "object")
      plain.error = text_of(reader) == "error" || plain.error;
    else if (reader.name() == "status")
      plain.status = text_of(reader);
    else
      reader.skip();
  }
  if (plain.malformed_choice) return "a choice was not finished";
  if (!reader.done()) return "the answer is no JSON object of the expected shape";
  if (plain.error) return "the answer tells an error";
  if (!plain.has_list) return "the answer has no results";
  if (has_two_forms(endpoint) && plain.choices < choices) return "the answer has too few choices";
  if (endpoint == Endpoint::responses && plain.status != "completed") return "the response is not completed";
  return nullptr;
}

}  // namespace brink::cache::inference
