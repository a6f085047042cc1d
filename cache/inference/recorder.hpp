// Says whether an answer of a model may be stored: only what arrived whole and succeeded. An answer cut off, failed or
// not understood is never stored, even if its status was 200. Keeps no copy of the answer: the caller has the bytes.
// Pure; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/inference/endpoint.hpp"
#include "cache/inference/sse_reader.hpp"

namespace brink::cache::inference {

class JsonReader;

// Reads an event stream in pieces, cut anywhere.
//   chat, completions: complete with `data: [DONE]` once each of the choices, numbered from 0 without gaps and at least
//     as many as asked for, has a finish_reason. Failed: an `error` event or object, finish_reason error or abort, an
//     event that is no JSON object, a stream that ends before, events after the end.
//   responses: complete with `response.completed`. Failed: error, response.failed, response.incomplete.
//   Other endpoints have no streams: failed.
class StreamRecorder {
 public:
  enum class State : std::uint8_t { open, complete, failed, too_large };
  static constexpr std::size_t max_choices = 4096;

  // `choices`: Facts::choices. `max_bytes`: of the whole stream; one event may take all of it.
  StreamRecorder(Endpoint endpoint, std::uint32_t choices, std::size_t max_bytes);

  // The state after these bytes. failed and too_large are final. Only what finish() says allows storing.
  State feed(std::string_view bytes);
  // The body ended as its framing promised (last chunk, or Content-Length). A body cut off: do not store it.
  State finish();
  State state() const { return state_; }
  const char* reason() const { return reason_; }  // static text, with failed and too_large
  bool has_usage() const { return has_usage_; }   // an event without choices told it: Form::usage of convert.hpp

 private:
  void on_event();
  void on_completion(JsonReader& reader);
  void on_choices(JsonReader& reader);
  void on_choice(JsonReader& reader);
  void on_response(JsonReader& reader);
  void on_done();
  State fail(const char* reason);

  SseReader reader_;
  Endpoint endpoint_;
  State state_ = State::open;
  bool has_usage_ = false;
  std::uint32_t wanted_;
  std::size_t left_;              // bytes that may still come
  std::size_t choices_here_ = 0;  // in the present event
  std::vector<bool> seen_;        // by index of the choice
  std::vector<bool> finished_;    // by index of the choice
  const char* reason_ = nullptr;
};

// A plain answer. nullptr: it may be stored; else static text that says why not. Wants status 200, a whole JSON object
// without `error`, and its shape: choices with message or text and finish_reason (chat, completions), at least
// `choices` of them; `data` (embeddings); `results` (rerank, moderations); status "completed" (responses).
const char* plain_refused(Endpoint endpoint, std::uint32_t choices, unsigned status, std::string_view body);

}  // namespace brink::cache::inference
