// Chooses tokens from llama.cpp's output by its samplers. See Sampling for the order.
#pragma once

#include <llama.h>

#include <memory>
#include <optional>
#include <vector>

#include "proxy/model/engine.hpp"
#include "proxy/model/llama/engine.hpp"

namespace brink::model {

class LlamaSampler final : public Sampler {
 public:
  // All must outlive it but `sampling`. Throws EngineError for a bad grammar.
  LlamaSampler(llama_context* context, const llama_vocab* vocab, const VocabularyNotes& notes,
               const Sampling& sampling);
  std::optional<Token> next(std::size_t index) override;

 private:
  void read(std::size_t index);
  Token pick();
  bool grammar_allows(Token token) const;
  void apply_grammar();
  void accept(Token token);
  const std::string* fragment(Token token) const;

  llama_context* context_;
  const llama_vocab* vocab_;
  const VocabularyNotes& notes_;
  const bool ignore_end_;
  std::unique_ptr<llama_sampler, ModelFree> chain_;
  std::unique_ptr<llama_sampler, ModelFree> grammar_;  // nullptr: none
  std::string unfinished_;                             // with a grammar: the beginning of a character
  std::vector<llama_token_data> candidates_;
};

}  // namespace brink::model
