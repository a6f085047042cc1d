// Makes one form of an answer of another, so that a stored stream serves a plain call of the same request and the other
// way round: chat and text completions. Exact or not at all: where a member cannot be carried over without loss, or an
// answer is not of the official shape, there is no conversion, and the caller goes on as after a miss. Pure; any
// thread.
//
// Stream to plain. Joined in order: delta.content, refusal, reasoning, reasoning_content,
// tool_calls[].function.arguments, function_call.arguments, choices[].text; lists: annotations, token_ids,
// logprobs.content and .refusal, and of text completions logprobs.tokens, .token_logprobs, .top_logprobs and
// .text_offset (which must not fall). The same in each event: id, object, created, model. Once, or null: role (or the
// same again), finish_reason, stop_reason, usage, tool call id and type (or the same again), function names, and each
// unknown member of a choice, delta or call. Unknown members of an event: once, or the same in all events.
// `obfuscation` is padding and dropped. `null` stays null unless a value comes. Refused: audio, custom tools, usage in
// several events, no usage, gaps in indices.
//
// Plain to stream. Each choice opens with its role and an empty content, then has one event for each kind of text it
// has, two for each tool call, and closes with its finish_reason; then the usage with empty choices, if asked for, and
// [DONE]. Unknown members of the answer, a choice or a message come in the first event that can carry them. Refused:
// audio, custom tools, choices out of order, usage asked for but unknown.
//
// Numbers keep their value as doubles (integers: 64 bits).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cache/inference/endpoint.hpp"

namespace brink::cache::inference {

struct Form {
  bool stream = false;
  bool usage = false;  // the stream ends with an event that tells the usage; for plain answers without meaning

  bool operator==(const Form& other) const { return stream == other.stream && (!stream || usage == other.usage); }
};

struct Converted {
  std::optional<std::string> body;
  const char* refused = nullptr;  // static text that says why, without `body`
};

// `body` is an answer that StreamRecorder or plain_refused() let pass, in the form `stored`. With stored == wanted it
// comes back as it is. A stream is made of a stream where only the usage differs.
Converted convert(Endpoint endpoint, std::string_view body, Form stored, Form wanted);

// Whether the last event before [DONE] tells the usage: Form::usage of a stored stream. Reads only the stream's end.
bool tells_usage(std::string_view stream);

}  // namespace brink::cache::inference
