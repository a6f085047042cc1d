// The OpenAI surface without I/O: a JSON request becomes a Generation (or an ApiError), a Generation becomes the JSON
// of an answer. Sampling parameters (temperature, stop, tools and the like) are accepted and have no effect; what would
// change the shape of the answer is honoured or refused. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/engine.hpp"

namespace brink::sim {

enum class Api { chat, completion, embeddings };

// Thrown by parse_generation; also what an error answer is made of.
struct ApiError {
  unsigned status = 400;
  std::string message = {};
  std::string type = "invalid_request_error";
  std::string code = {};   // empty: null
  std::string param = {};  // empty: null
};

struct Generation {
  Api api = Api::chat;
  std::string model = {};
  Prompt prompt = {};
  std::uint64_t answer = 0;  // names the words of the answer
  std::uint32_t output_tokens = 1;
  bool cut_by_limit = false;  // finish_reason `length` instead of `stop`
  bool stream = false;
  bool include_usage = false;            // stream_options.include_usage
  std::vector<std::string> inputs = {};  // embeddings only
  bool base64 = false;
  std::uint32_t dimensions = 0;
};

struct ApiLimits {
  std::span<const std::string> models;  // those served
  std::uint32_t context_tokens = 0;     // prompt and answer together
  std::uint64_t seed = 0;
};

// Throws ApiError.
Generation parse_generation(Api api, std::string_view body, const ApiLimits& limits);

std::string error_json(const ApiError& error);
std::string models_json(std::span<const std::string> models);
std::string model_json(std::string_view model);

// Renders the answer to one request. `id` and `created` (Unix seconds) are the same in all its parts.
class Renderer {
 public:
  Renderer(const Generation& generation, std::string id, std::int64_t created);

  std::string plain(std::uint32_t cached_tokens) const;

  // One `data: ...` event each, with the blank line. `opening` is the role of a chat answer and empty for a completion.
  std::string opening() const;
  std::string token(std::uint32_t index) const;  // from 0
  std::string closing() const;                   // finish_reason
  std::string usage(std::uint32_t cached_tokens) const;

  static constexpr std::string_view done = "data: [DONE]\n\n";

 private:
  std::string event(std::string_view choice) const;
  std::string embeddings() const;

  const Generation& generation_;
  std::string id_;
  std::int64_t created_;
  std::string event_head_;  // of every event, up to the choices
};

}  // namespace brink::sim
