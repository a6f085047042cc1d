// Makes one form of an answer of another, so that a stored stream serves a plain call of the same request and the other
// way round: chat and text completions. Exact or not at all: where a member cannot be carried over without loss, or an
// answer is not of the official shape, there is no conversion, and the caller goes on as after a miss. Pure; any
// thread.
//
// Stream to plain. Joined in order: delta.content, refusal, reasoning, reasoning_content,
// tool_calls[].function.arguments, function_call.arguments, choices[].text; lists: annotations, token_ids,
// logprobs.content and .refusal, and of text completions logprobs.tokens, .token_logprobs, .top_logprobs and
// .text_offset (which must not fall). The same in every event that has it: id, object, created, model,
// system_fingerprint, service_tier; role, and id and type of a tool call. Once: finish_reason, stop_reason, usage, the
// name of a function, and each unknown member of a choice, a delta or a call. Unknown members of an event: once, or the
// same in all events. `null` gives way to a value. `obfuscation` is padding and dropped. Refused: audio, tools of
// another type than function, usage told twice, before the end or never, gaps in indices, a choice without role or
// finish_reason.
//
// Plain to stream. Each choice opens with its role and an empty content (null for null), then has one event for each
// kind of text, one or two for each tool call, and closes with its finish_reason; then comes the usage with empty
// choices, if asked for, and [DONE]. Unknown members of the answer, a choice or a message come in the first event of
// the answer or the choice. Refused: audio, tools of another type than function or with an index, choices out of order,
// a message without role or content, usage asked for but unknown.
//
// Numbers keep their value as doubles; an integer beyond 64 bits is refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cache/inference/endpoint.hpp"

namespace brink::cache::inference {

struct Form {
  bool stream = false;
  bool usage = false;  // before [DONE] comes an event without choices that tells the usage; nothing to plain answers

  bool operator==(const Form& other) const { return stream == other.stream && (!stream || usage == other.usage); }
};

struct Converted {
  std::optional<std::string> body;
  const char* refused = nullptr;  // static text that says why, without `body`
};

// `body` is an answer that StreamRecorder or plain_refused() let pass, in the form `stored`. With stored == wanted it
// comes back as it is. A stream is made of a stream where only the usage differs.
Converted convert(Endpoint endpoint, std::string_view body, Form stored, Form wanted);

// Form::usage of a stored stream. Reads its end, as a rule.
bool tells_usage(std::string_view stream);

}  // namespace brink::cache::inference
