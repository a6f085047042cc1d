// What LlamaEngine does on the evaluating thread.
#include <cmath>

#include "proxy/model/llama/engine.hpp"
#include "proxy/model/llama/log.hpp"

namespace brink::model {

namespace {

class Batch {
 public:
  explicit Batch(std::size_t size) : batch_(llama_batch_init(static_cast<std::int32_t>(size), 0, 1)) {}
  ~Batch() { llama_batch_free(batch_); }
  Batch(const Batch&) = delete;

  void add(const Engine::Input& input) {
    const auto at = batch_.n_tokens++;
    batch_.token[at] = input.token;
    batch_.pos[at] = input.position;
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = input.sequence;
    batch_.logits[at] = input.output ? 1 : 0;
  }
  const llama_batch& get() const { return batch_; }

 private:
  llama_batch batch_;
};

}  // namespace

Engine::Decoded LlamaEngine::decode(std::span<const Input> inputs) {
  Batch batch(inputs.size());
  for (const Input& input : inputs) batch.add(input);
  const int status = llama_decode(context_.get(), batch.get());
  if (stop_.load(std::memory_order_relaxed)) return Decoded::stopped;
  return status == 0 ? Decoded::done : Decoded::failed;
}

int LlamaEngine::trim(int sequence, int size) {
  llama_memory_t memory = llama_get_memory(context_.get());
  // A recurrent model has one state for all of a sequence, which cannot be cut.
  if (size > 0 && llama_memory_seq_rm(memory, sequence, size, -1)) return size;
  llama_memory_seq_rm(memory, sequence, -1, -1);
  return 0;
}

std::vector<float> LlamaEngine::embed(std::span<const Token> tokens) {
  if (!embedder_) {
    llama_context_params params = context_params();
    params.n_ctx = params.n_batch = params.n_ubatch = static_cast<std::uint32_t>(shape_.embeddable);
    params.n_seq_max = 1;
    params.embeddings = true;
    embedder_.reset(llama_init_from_model(model_.get(), params));
    // What the file says about pooling is followed; without a word the mean of the last layer is usual.
    if (embedder_ && llama_pooling_type(embedder_.get()) == LLAMA_POOLING_TYPE_NONE) {
      params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
      embedder_.reset(llama_init_from_model(model_.get(), params));
    }
    if (!embedder_) throw EngineError("no context for embeddings could be made; " + take_errors());
  }
  llama_memory_t memory = llama_get_memory(embedder_.get());
  if (memory) llama_memory_clear(memory, true);
  Batch batch(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) batch.add({tokens[i], static_cast<int>(i), 0, true});
  const int status = memory ? llama_decode(embedder_.get(), batch.get()) : llama_encode(embedder_.get(), batch.get());
  const float* values = status == 0 ? llama_get_embeddings_seq(embedder_.get(), 0) : nullptr;
  if (!values) throw EngineError("the model gave no embedding; " + take_errors());
  std::vector<float> out(values, values + shape_.embedding);
  double square = 0;
  for (const float value : out) square += static_cast<double>(value) * value;
  const double length = std::sqrt(square);
  if (!(length > 0) || std::isinf(length)) throw EngineError("the model's embedding is not a number");
  for (float& value : out) value = static_cast<float>(value / length);
  return out;
}

}  // namespace brink::model
