#include "proxy/model/llama/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "proxy/model/llama/backends.hpp"
#include "proxy/model/llama/log.hpp"
#include "proxy/model/llama/sampler.hpp"
#include "proxy/model/text_gate.hpp"

namespace brink::model {

namespace {

// Longer inputs would need a working memory that an edge node has better uses for.
constexpr int max_embeddable = 2048;
constexpr std::size_t max_prompt_bytes = std::size_t{64} << 20;

bool should_stop(void* stop) { return static_cast<const std::atomic<bool>*>(stop)->load(std::memory_order_relaxed); }

bool template_works(const std::string& name) {
  const std::array<llama_chat_message, 2> messages{{{"system", "a"}, {"user", "b"}}};
  return llama_chat_apply_template(name.c_str(), messages.data(), messages.size(), true, nullptr, 0) >= 0;
}

std::string template_names() {
  std::array<const char*, 256> names{};
  const auto count = llama_chat_builtin_templates(names.data(), names.size());
  std::string out = "plain";
  for (int i = 0; i < std::min<int>(count, names.size()); ++i)
    out += std::string(" ") + names[static_cast<std::size_t>(i)];
  return out;
}

// For models without a template: turns with their speakers' names, as in a transcript.
std::string plain_prompt(std::span<const Message> messages) {
  std::string out;
  for (const Message& message : messages) {
    if (message.role == "user") out += "User: ";
    if (message.role == "assistant") out += "Assistant: ";
    out += message.content + (message.role == "system" ? "\n\n" : "\n");
  }
  return out + "Assistant:";
}

}  // namespace

LlamaEngine::LlamaEngine(const Options& options, const std::atomic<bool>& stop) : options_(options), stop_(stop) {
  load_backends(options.backends);
  take_errors();
  load(options.file);
  choose_template(options.chat_template);
  make_context();
  measure_pieces();
  warm_up();
}

void LlamaEngine::load(const std::string& file) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.check_tensors = true;
  params.progress_callback = [](float, void* flag) { return !should_stop(flag); };
  params.progress_callback_user_data = const_cast<std::atomic<bool>*>(&stop_);
  try {
    model_.reset(llama_model_load_from_file(file.c_str(), params));
  } catch (const std::exception& error) {
    throw EngineError(std::string(error.what()) + "; " + take_errors());
  }
  if (!model_) throw EngineError(take_errors());
  vocab_ = llama_model_get_vocab(model_.get());
  if (llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE || llama_vocab_n_tokens(vocab_) <= 0) {
    throw EngineError("the file has no vocabulary");
  }
}

void LlamaEngine::choose_template(const std::string& name) {
  const char* own = llama_model_chat_template(model_.get(), nullptr);
  if (name == "plain" || (name.empty() && !own)) return;
  template_ = name.empty() ? own : name;
  if (template_works(template_)) return;
  const std::string why =
      name.empty() ? "its chat template is none that llama.cpp knows" : "there is no chat template " + name;
  throw EngineError(why + "; name one with --chat-template: " + template_names());
}

llama_context_params LlamaEngine::context_params() const {
  llama_context_params params = llama_context_default_params();
  params.n_threads = params.n_threads_batch = options_.threads;
  params.no_perf = true;
  params.abort_callback = should_stop;
  params.abort_callback_data = const_cast<std::atomic<bool>*>(&stop_);
  return params;
}

void LlamaEngine::make_context() {
  const int trained = llama_model_n_ctx_train(model_.get());
  shape_.sequences = options_.parallel;
  shape_.batch = options_.batch;
  shape_.context = trained > 0 ? std::min(options_.context, trained) : options_.context;
  shape_.embedding = llama_model_n_embd_out(model_.get());
  shape_.embeddable = std::min(shape_.context, max_embeddable);
  if (llama_model_has_encoder(model_.get()))
    throw EngineError("models with an encoder and a decoder are not supported");
  llama_context_params params = context_params();
  params.n_ctx = static_cast<std::uint32_t>(shape_.context * shape_.sequences);
  params.n_batch = params.n_ubatch = static_cast<std::uint32_t>(shape_.batch);
  params.n_seq_max = static_cast<std::uint32_t>(shape_.sequences);
  params.n_outputs_max = params.n_seq_max;
  // A part of the memory for each sequence; with sliding windows all of it, so that a prefix can be used again.
  params.kv_unified = false;
  params.swa_full = true;
  context_.reset(llama_init_from_model(model_.get(), params));
  if (!context_)
    throw EngineError("no context of " + std::to_string(shape_.context) + " tokens could be made; " + take_errors());
  shape_.context = std::min(shape_.context, static_cast<int>(llama_n_ctx_seq(context_.get())));
  // Encoders such as BERT have no memory: they only make embeddings.
  shape_.generates = llama_get_memory(context_.get()) != nullptr;
  if (!shape_.generates) context_.reset();
}

void LlamaEngine::measure_pieces() {
  for (Token token = 0; token < llama_vocab_n_tokens(vocab_); ++token) {
    if (ends(token)) notes_.ends.push_back(token);
    const char* text = llama_vocab_get_text(vocab_, token);
    if (text) longest_piece_ = std::max(longest_piece_, std::string_view(text).size());
    std::string bytes = piece(token);
    if (!is_utf8(bytes)) notes_.fragments.emplace_back(token, std::move(bytes));
  }
}

void LlamaEngine::warm_up() {
  const Token bos = llama_vocab_bos(vocab_);
  const Token first = knows(bos) ? bos : 0;
  if (!shape_.generates) {
    embed(std::array{first});
    return;
  }
  const Input input{.token = first, .position = 0, .sequence = 0, .output = true};
  if (decode(std::array{input}) != Decoded::done) throw EngineError("it cannot be evaluated; " + take_errors());
  make_sampler({})->next(0);
  trim(0, 0);
}

std::vector<Token> LlamaEngine::tokenize_raw(std::string_view text, bool parse_special) const {
  if (text.size() > max_prompt_bytes) throw EngineError("the prompt is too large");
  const auto size = static_cast<std::int32_t>(text.size());
  std::vector<Token> tokens(text.size() + 2);
  const auto convert = [&] {
    return llama_tokenize(vocab_, text.data(), size, tokens.data(), static_cast<std::int32_t>(tokens.size()), true,
                          parse_special);
  };
  std::int32_t count = convert();
  if (count < 0 && count != std::numeric_limits<std::int32_t>::min()) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = convert();
  }
  if (count < 0) throw EngineError("the prompt cannot be turned into tokens");
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

std::vector<Token> LlamaEngine::tokenize(std::string_view text) const { return tokenize_raw(text, false); }

std::vector<Token> LlamaEngine::tokenize(std::span<const Message> messages) const {
  if (template_.empty()) return tokenize_raw(plain_prompt(messages), false);
  std::vector<llama_chat_message> chat;
  std::size_t bytes = 256;
  for (const Message& message : messages) {
    chat.push_back({message.role.c_str(), message.content.c_str()});
    bytes += 2 * message.content.size() + 64;
  }
  std::string text(bytes, '\0');
  const auto apply = [&] {
    return llama_chat_apply_template(template_.c_str(), chat.data(), chat.size(), true, text.data(),
                                     static_cast<std::int32_t>(text.size()));
  };
  std::int32_t size = apply();
  if (size > static_cast<std::int32_t>(text.size())) {
    text.resize(static_cast<std::size_t>(size));
    size = apply();
  }
  if (size < 0) throw EngineError("the chat template cannot be applied to this conversation");
  text.resize(static_cast<std::size_t>(size));
  std::vector<Token> tokens = tokenize_raw(text, true);
  // Some templates write the first token themselves, and the tokenizer adds it once more.
  const Token bos = llama_vocab_bos(vocab_);
  if (tokens.size() > 1 && knows(bos) && tokens[0] == bos && tokens[1] == bos) tokens.erase(tokens.begin());
  return tokens;
}

std::vector<std::string> LlamaEngine::turn_ends() const {
  if (!template_.empty()) return {};
  return {"\nUser:"};
}

std::string LlamaEngine::piece(Token token) const {
  std::string text(64, '\0');
  const auto convert = [&] {
    return llama_token_to_piece(vocab_, token, text.data(), static_cast<std::int32_t>(text.size()), 0, false);
  };
  std::int32_t size = convert();
  if (size < 0) {
    text.resize(static_cast<std::size_t>(-size));
    size = convert();
  }
  text.resize(static_cast<std::size_t>(std::max(size, 0)));
  return text;
}

std::unique_ptr<Sampler> LlamaEngine::make_sampler(const Sampling& sampling) const {
  return std::make_unique<LlamaSampler>(context_.get(), vocab_, notes_, sampling);
}

std::string LlamaEngine::describe() const {
  std::array<char, 128> name{};
  llama_model_desc(model_.get(), name.data(), name.size());
  return std::string(name.data()) + ", " + std::to_string(shape_.sequences) + " sequences of " +
         std::to_string(shape_.context) + " tokens" + (shape_.generates ? "" : ", embeddings only") +
         (shape_.context < options_.context ? ", fewer than asked for: it was trained with no more" : "");
}

}  // namespace brink::model
