// One request's work for the model, from submission to its last delivery. Filled by the thread that submits; then it is
// the scheduler's, but for `cancelled`, which any thread may set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/model/engine.hpp"

namespace brink::model {

enum class Finish : std::uint8_t { none, stop, length };

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;  // of the prompt, that did not have to be evaluated again
  int completion_tokens = 0;
};

// What the scheduler says of a job. The last one has `finish`, `embeddings` or `error`; nothing comes after it.
struct Delivery {
  std::string text{};  // more of the answer; whole characters
  Finish finish = Finish::none;
  std::vector<std::vector<float>> embeddings{};  // of an embedding job: all of them
  std::string error{};                           // the model failed
  Usage usage{};                                 // with the last
  bool last() const { return finish != Finish::none || !embeddings.empty() || !error.empty(); }
};

struct Job {
  // A generation has a sampler and one input, an embedding job has inputs only.
  std::vector<std::vector<Token>> inputs;
  std::unique_ptr<Sampler> sampler;
  int max_tokens = 0;  // > 0
  std::vector<std::string> stops;
  std::function<void(Delivery)> deliver;  // called on the scheduler's thread
  std::atomic<bool> cancelled = false;    // nothing is delivered once the scheduler has seen it

  bool generates() const { return sampler != nullptr; }
};

}  // namespace brink::model
