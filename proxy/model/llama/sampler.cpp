#include "proxy/model/llama/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proxy/model/llama/log.hpp"
#include "proxy/model/text_gate.hpp"

namespace brink::model {

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

bool any_possible(const std::vector<llama_token_data>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [](const llama_token_data& token) { return token.logit > never; });
}

std::unique_ptr<llama_sampler, ModelFree> make_chain(const llama_vocab* vocab, const Sampling& sampling) {
  llama_sampler_chain_params params = llama_sampler_chain_default_params();
  params.no_perf = true;
  std::unique_ptr<llama_sampler, ModelFree> chain(llama_sampler_chain_init(params));
  const auto add = [&](llama_sampler* sampler) { llama_sampler_chain_add(chain.get(), sampler); };
  if (sampling.presence_penalty != 0 || sampling.frequency_penalty != 0 || sampling.repetition_penalty != 1) {
    // All of the answer counts, and only the answer: the prompt is never accepted into the chain.
    add(llama_sampler_init_penalties(llama_vocab_n_tokens(vocab), std::numeric_limits<std::int16_t>::max(),
                                     sampling.repetition_penalty, sampling.frequency_penalty,
                                     sampling.presence_penalty));
  }
  if (sampling.temperature <= 0) {
    add(llama_sampler_init_greedy());
    return chain;
  }
  if (sampling.top_k > 0) add(llama_sampler_init_top_k(sampling.top_k));
  add(llama_sampler_init_temp(sampling.temperature));
  if (sampling.min_p > 0) add(llama_sampler_init_min_p(sampling.min_p, 1));
  if (sampling.top_p < 1) add(llama_sampler_init_top_p(sampling.top_p, 1));
  add(llama_sampler_init_dist(sampling.seed));
  return chain;
}

}  // namespace

LlamaSampler::LlamaSampler(llama_context* context, const llama_vocab* vocab, const VocabularyNotes& notes,
                           const Sampling& sampling)
    : context_(context),
      vocab_(vocab),
      notes_(notes),
      ignore_end_(sampling.ignore_end),
      chain_(make_chain(vocab, sampling)) {
  if (sampling.grammar.empty()) return;
  take_errors();
  try {
    grammar_.reset(llama_sampler_init_grammar(vocab, sampling.grammar.c_str(), "root"));
  } catch (const std::exception& error) {
    throw EngineError(std::string("The grammar cannot be used: ") + error.what());
  }
  if (!grammar_) throw EngineError("The grammar cannot be used: " + take_errors());
}

void LlamaSampler::read(std::size_t index) {
  const float* logits = llama_get_logits_ith(context_, static_cast<std::int32_t>(index));
  if (!logits) throw EngineError("the model gave no output");
  const auto count = static_cast<std::size_t>(llama_vocab_n_tokens(vocab_));
  candidates_.resize(count);
  bool is_number = true;
  for (std::size_t i = 0; i < count; ++i) {
    is_number = is_number && !std::isnan(logits[i]);
    candidates_[i] = {static_cast<Token>(i), logits[i], 0};
  }
  if (!is_number || !any_possible(candidates_)) throw EngineError("the model's output is not a number");
  if (!ignore_end_) return;
  for (const Token token : notes_.ends) candidates_[static_cast<std::size_t>(token)].logit = never;
}

Token LlamaSampler::pick() {
  llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
  llama_sampler_apply(chain_.get(), &array);
  if (array.selected < 0 || static_cast<std::size_t>(array.selected) >= array.size) {
    throw EngineError("the model's output is no distribution");
  }
  return array.data[array.selected].id;
}

const std::string* LlamaSampler::fragment(Token token) const {
  const auto found = std::lower_bound(notes_.fragments.begin(), notes_.fragments.end(), token,
                                      [](const auto& entry, Token wanted) { return entry.first < wanted; });
  return found != notes_.fragments.end() && found->first == token ? &found->second : nullptr;
}

// llama.cpp's grammars take any bytes of the right form for a character, so that a model could answer with overlong
// forms of what is allowed: these are kept out here.
bool LlamaSampler::grammar_allows(Token token) const {
  const std::string* bytes = fragment(token);
  if (bytes && !is_utf8_beginning(unfinished_ + *bytes)) return false;
  llama_token_data one{token, 1, 0};
  llama_token_data_array array{&one, 1, -1, false};
  llama_sampler_apply(grammar_.get(), &array);
  return one.logit > never;
}

void LlamaSampler::apply_grammar() {
  llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
  llama_sampler_apply(grammar_.get(), &array);
  for (const auto& [token, bytes] : notes_.fragments) {
    float& logit = candidates_[static_cast<std::size_t>(token)].logit;
    if (logit > never && !is_utf8_beginning(unfinished_ + bytes)) logit = never;
  }
}

void LlamaSampler::accept(Token token) {
  llama_sampler_accept(chain_.get(), token);
  if (!grammar_) return;
  llama_sampler_accept(grammar_.get(), token);
  const std::string* bytes = fragment(token);
  unfinished_ = bytes ? unfinished_ + *bytes : std::string();
  if (is_utf8(unfinished_)) unfinished_.clear();
}

std::optional<Token> LlamaSampler::next(std::size_t index) {
  try {
    read(index);
    Token token = pick();
    // Asking the grammar about one token is far cheaper than about all, and the first choice is mostly right. Drawing
    // again from the allowed ones after a refusal gives each just its share of them.
    if (grammar_ && !grammar_allows(token)) {
      read(index);
      apply_grammar();
      if (!any_possible(candidates_)) return std::nullopt;
      token = pick();
    }
    accept(token);
    return token;
  } catch (const EngineError&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(std::string("llama.cpp failed while choosing a token: ") + error.what());
  }
}

}  // namespace brink::model
