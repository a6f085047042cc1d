// The stand-in for a tokenizer and a model: token counts, block hashes, answers and embeddings, all functions of their
// arguments alone, so that equal requests get equal answers on every node. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/kv_cache.hpp"

namespace brink::sim {

constexpr std::size_t token_bytes = 4;  // the usual rule of thumb for English text

// At least 1: every model puts a begin marker in front.
std::uint32_t count_tokens(std::string_view text);

// A hash of the text; different seeds give unrelated hashes.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed);

// The hash chain over the full blocks (16 tokens, 64 bytes) of a prompt.
std::vector<BlockHash> block_chain(std::string_view text, std::uint64_t seed);

// Word `index` of the answer named by `answer` (a hash of prompt and seed), with a leading space but for the first.
std::string_view answer_word(std::uint64_t answer, std::uint32_t index);

// How long the answer is when nothing limits it: 16 to 128 words.
std::uint32_t natural_length(std::uint64_t answer);

// A vector of length 1.
std::vector<float> embedding(std::string_view text, std::uint32_t dimensions, std::uint64_t seed);

// Little-endian float32, base64 (RFC 4648 section 4): the form OpenAI's clients ask for.
std::string base64_floats(std::span<const float> values);

}  // namespace brink::sim
