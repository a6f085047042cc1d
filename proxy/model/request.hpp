// What a client asks for, read from the JSON body of a request and checked: what is understood is honoured, what would
// go unheeded is refused with OpenAI's error. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/model/engine.hpp"

namespace brink::model {

// What chat and text completions have in common.
struct Generation {
  Sampling sampling;
  std::optional<int> max_tokens;  // absent: as much as the context has room for
  std::vector<std::string> stops;
  bool stream = false;
  bool include_usage = false;  // a last chunk with the usage
};

using Prompt = std::variant<std::string, std::vector<Token>>;

struct ChatRequest {
  Generation generation;
  std::vector<Message> messages;
};

struct CompletionRequest {
  Generation generation;
  Prompt prompt;
};

struct EmbeddingRequest {
  std::vector<Prompt> inputs;
  bool base64 = false;            // little-endian floats instead of a list of numbers
  std::optional<int> dimensions;  // only the model's own number can be given
};

inline constexpr std::size_t max_embedding_inputs = 64;
inline constexpr std::size_t max_stops = 16;
inline constexpr std::size_t max_stop_bytes = 256;
inline constexpr std::size_t max_grammar_bytes = 65536;
inline constexpr int max_grammar_depth = 100;

// Throw ApiError.
ChatRequest read_chat(std::string_view body);
CompletionRequest read_completion(std::string_view body);
EmbeddingRequest read_embedding(std::string_view body);

}  // namespace brink::model
