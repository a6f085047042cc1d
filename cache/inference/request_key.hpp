// What a JSON request to a model is known by in the exact cache: two requests that mean the same JSON get the same key,
// any other two do not. One pass over the body, without a tree. Also says whether an answer may be kept at all.
//
// Not part of the key: the order of members, white space, how a number is spelled (1, 1.0, 10e-1; -0 is 0), how a
// string is escaped. Numbers are compared in decimal, so integers beyond 2^53 stay apart. Absent, null and a default
// value are three different things.
//
// Top-level members left out, as they cannot change what is answered:
//   stream                      chat and text completions only, where one form is made of the other (convert.hpp)
//   stream_options              chat and text completions only: include_usage and include_obfuscation (padding). With
//                               any other member true, such as vLLM's continuous_usage_stats, `stream` and the rest of
//                               stream_options are in the key: such a stream serves only its like
//   prompt_cache_key, prompt_cache_retention, prompt_cache_options
//                               steer the backend's own prefix cache: cost and speed
//   store                       chat: only false and null are eligible, and mean the same
// Kept, though they change no text: `user`, `safety_identifier` and `metadata` say whom the answer is for, and gateways
// choose by them; `service_tier` is told in the answer; vLLM's `cache_salt` exists to isolate, and its `request_id` and
// `priority` are rare. Everything unknown is in the key.
//
// Fields of the request in the key, all their values in order: each `openai-*` (organization, project, beta, version),
// `anthropic-version`, `anthropic-beta`, `accept-language`, and what the caller names. `accept` and `accept-encoding`
// choose a form, not an answer. Method, path and query count byte for byte.
//
// A RequestKey belongs to one thread: it reuses its buffers and its hash context. A key takes up to twice the size of
// the body in memory while it is made; how large a body may be is the caller's to bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/entry.hpp"
#include "cache/inference/endpoint.hpp"

namespace brink::cache::inference {

enum class When : std::uint8_t {
  repeatable,  // temperature 0 or a seed that is not negative; embeddings, rerank and moderations always
  always,      // the operator takes one answer for as good as another
};

struct Request {
  std::string_view method;
  std::string_view path;                          // as sent to the backend, without the query
  std::string_view query;                         // as sent, without '?'
  std::string_view route;                         // the route's name
  std::string_view scope;                         // scope_digest(), or "public" where every client may share
  std::span<const Field> fields;                  // the request's; the key takes what it needs
  std::span<const std::string_view> more_fields;  // names in lower case of further fields that change the answer
  std::string_view body;                          // after rewrites; REQUIRES: content codings are decoded
};

struct Facts {
  Endpoint endpoint = Endpoint::other;
  bool stream = false;
  bool include_usage = false;  // stream_options.include_usage
  bool convertible = false;    // an answer in the other form, or with other usage, may be converted for this request
  std::string model;           // empty: absent, or not a string
  std::optional<double> temperature;
  std::optional<std::int64_t> seed;  // absent too where it is no integer of 64 bits
  std::uint32_t choices = 1;         // `n`: choices a prompt
};

struct Keyed {
  const char* refused = nullptr;  // static text that says why there is no key; nullptr: eligible
  std::string key;                // 64 hexadecimal digits in lower case; empty with `refused`
  Facts facts;                    // read as far as the body was understood
};

class RequestKey {
 public:
  RequestKey();
  ~RequestKey();
  RequestKey(const RequestKey&) = delete;
  RequestKey& operator=(const RequestKey&) = delete;

  // Refused: an endpoint or a method that is not known; a body that is no JSON object, not UTF-8, too deep, or that has
  // a member twice (canonical.hpp); what keeps or fetches something (store, background, previous_response_id,
  // conversation, stored prompts, web search, tools that run in the backend); audio answers; what is not repeatable,
  // where `when` asks for it. /v1/responses is stored by default, so it needs `store: false`. Streamed or not never
  // matters.
  Keyed make(const Request& request, When when = When::repeatable);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace brink::cache::inference
