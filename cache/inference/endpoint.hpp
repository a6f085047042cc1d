// Which of the model APIs a request calls, as far as the exact cache of inference knows them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace brink::cache::inference {

enum class Endpoint : std::uint8_t {
  other,        // unknown: never cached
  chat,         // POST .../chat/completions
  completions,  // POST .../completions, the legacy text completions
  embeddings,   // POST .../embeddings
  rerank,       // POST .../rerank: /rerank, /v1/rerank, /v2/rerank
  moderations,  // POST .../moderations
  responses,    // POST .../responses
};

// By the last segments of the path, whatever stands before them (/v1, /openai/v1, /openai/deployments/x). A path that
// goes on after them, such as /v1/responses/{id}/cancel, is `other`, and so is every method but POST.
Endpoint endpoint_of(std::string_view method, std::string_view path);

// Whether stream and plain answers of it can be made of each other (convert.hpp), and so share one key.
constexpr bool has_two_forms(Endpoint endpoint) {
  return endpoint == Endpoint::chat || endpoint == Endpoint::completions;
}

}  // namespace brink::cache::inference
