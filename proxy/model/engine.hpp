// The seam between serving and computing: what a language model must do so that the scheduler can share it among
// requests. One implementation evaluates GGUF files with llama.cpp (proxy/model/llama/), another is the tests' own.
//
// Threads: the calls on text and on the vocabulary may come from any thread; decode, trim, embed and a sampler's next()
// only from the one thread that evaluates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brink::model {

using Token = std::int32_t;

struct Message {
  std::string role;  // system, user or assistant
  std::string content;
};

// How the next token is chosen from the model's distribution. The order is: penalties, top_k, temperature, min_p,
// top_p.
struct Sampling {
  float temperature = 1;  // 0: always the most likely token
  float top_p = 1;        // (0, 1]
  float min_p = 0;        // [0, 1]
  int top_k = 0;          // 0: all tokens
  float presence_penalty = 0;
  float frequency_penalty = 0;
  float repetition_penalty = 1;  // 1: none
  std::uint32_t seed = 0;
  bool ignore_end = false;  // the model may not end its answer by itself
  std::string grammar;      // GBNF with a rule `root`; empty: anything goes
};

// What the engine cannot do with a request: the request's fault (`grammar` of Sampling), or the model's.
struct EngineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The token after the input at `index` of the last decode, which asked for output. Nothing when no token may follow.
  // Throws EngineError when the model's output is no distribution.
  virtual std::optional<Token> next(std::size_t index) = 0;
};

class Engine {
 public:
  struct Input {
    Token token = 0;
    int position = 0;  // in its sequence, from 0
    int sequence = 0;
    bool output = false;  // a sampler will ask for what comes after
  };
  enum class Decoded : std::uint8_t { done, stopped, failed };
  struct Shape {
    int sequences = 1;
    int context = 0;     // tokens a sequence
    int batch = 0;       // inputs of one decode
    int embedding = 0;   // numbers of one embedding
    int embeddable = 0;  // tokens of one input of embed()
    bool generates = true;
  };

  virtual ~Engine() = default;
  virtual Shape shape() const = 0;

  virtual std::vector<Token> tokenize(std::string_view text) const = 0;
  // The tokens of a conversation up to where the assistant speaks next, by the model's template.
  virtual std::vector<Token> tokenize(std::span<const Message> messages) const = 0;
  // Texts by which an answer to a conversation ends besides the model's own end.
  virtual std::vector<std::string> turn_ends() const { return {}; }
  virtual std::string piece(Token token) const = 0;  // bytes, possibly a part of a character
  virtual bool ends(Token token) const = 0;
  virtual bool knows(Token token) const = 0;
  // The longest piece in bytes: a text of n bytes has at least n / longest_piece() tokens.
  virtual std::size_t longest_piece() const = 0;

  // Throws EngineError for a grammar that cannot be used.
  virtual std::unique_ptr<Sampler> make_sampler(const Sampling& sampling) const = 0;

  // Evaluates at most shape().batch inputs. After `failed` nothing is known of the sequences in the batch.
  virtual Decoded decode(std::span<const Input> inputs) = 0;
  // Forgets all of a sequence from `size` tokens on; returns how many are left, which may be fewer.
  virtual int trim(int sequence, int size) = 0;
  // Of unit length. REQUIRES: 1 to shape().embeddable tokens. Throws EngineError.
  virtual std::vector<float> embed(std::span<const Token> tokens) = 0;
};

}  // namespace brink::model
