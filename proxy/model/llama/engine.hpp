// Evaluates a GGUF file with llama.cpp, on the CPU. One context holds all sequences, each with its own part of the
// memory, so that none takes room from another.
#pragma once

#include <llama.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/model/engine.hpp"
#include "proxy/model/options.hpp"

namespace brink::model {

struct ModelFree {
  void operator()(llama_model* model) const { llama_model_free(model); }
  void operator()(llama_context* context) const { llama_free(context); }
  void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
};

// What samplers need to know of the vocabulary, gathered once.
struct VocabularyNotes {
  std::vector<Token> ends;                               // tokens that end an answer
  std::vector<std::pair<Token, std::string>> fragments;  // tokens whose piece is not UTF-8 by itself
};

class LlamaEngine final : public Engine {
 public:
  // Loads, and evaluates once. Throws EngineError with what llama.cpp said. `stop`: loading and evaluating end soon
  // after it is set; outlives the engine.
  LlamaEngine(const Options& options, const std::atomic<bool>& stop);

  Shape shape() const override { return shape_; }
  using Engine::tokenize;
  std::vector<Token> tokenize(std::string_view text) const override;
  std::vector<Token> tokenize(std::span<const Message> messages) const override;
  std::vector<std::string> turn_ends() const override;
  std::string piece(Token token) const override;
  bool ends(Token token) const override { return llama_vocab_is_eog(vocab_, token); }
  bool knows(Token token) const override { return token >= 0 && token < llama_vocab_n_tokens(vocab_); }
  std::size_t longest_piece() const override { return longest_piece_; }
  std::unique_ptr<Sampler> make_sampler(const Sampling& sampling) const override;
  Decoded decode(std::span<const Input> inputs) override;
  int trim(int sequence, int size) override;
  std::vector<float> embed(std::span<const Token> tokens) override;

  std::string describe() const;  // for the log: architecture, parameters, context

 private:
  void load(const std::string& file);
  void choose_template(const std::string& name);
  void make_context();
  void measure_pieces();
  void warm_up();
  llama_context_params context_params() const;
  std::vector<Token> tokenize_raw(std::string_view text, bool parse_special) const;

  const Options& options_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<llama_model, ModelFree> model_;
  const llama_vocab* vocab_ = nullptr;
  std::unique_ptr<llama_context, ModelFree> context_;
  std::unique_ptr<llama_context, ModelFree> embedder_;  // made when the first embedding is asked for
  std::string template_;                                // empty: the plain one
  VocabularyNotes notes_;
  std::size_t longest_piece_ = 1;
  Shape shape_;
};

}  // namespace brink::model
