#include "tests/sim/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace brink::sim {
namespace {

constexpr std::size_t block_bytes = block_tokens * token_bytes;

constexpr std::array<std::string_view, 32> words = {
    " river", " stone", " light",  " under", " the",    " morning", " wind",  " carries", " small", " boats", " over",
    " deep",  " water", " while",  " birds", " call",   " from",    " every", " tall",    " tree",  " and",   " people",
    " walk",  " along", " narrow", " paths", " toward", " green",   " hills", " beyond",  " quiet", " towns"};

// The finalizer of splitmix64: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint32_t count_tokens(std::string_view text) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, (text.size() + token_bytes - 1) / token_bytes));
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = mix(seed ^ text.size());
  while (!text.empty()) {
    std::uint64_t part = 0;
    const std::size_t size = std::min(text.size(), sizeof(part));
    std::memcpy(&part, text.data(), size);
    hash = mix(hash ^ part);
    text.remove_prefix(size);
  }
  return hash;
}

std::vector<BlockHash> block_chain(std::string_view text, std::uint64_t seed) {
  std::vector<BlockHash> chain;
  chain.reserve(text.size() / block_bytes);
  std::uint64_t hash = seed;
  for (; text.size() >= block_bytes; text.remove_prefix(block_bytes)) {
    hash = hash_text(text.substr(0, block_bytes), hash);
    chain.push_back(hash);
  }
  return chain;
}

std::string_view answer_word(std::uint64_t answer, std::uint32_t index) {
  std::string_view word = words[mix(answer + index) % words.size()];
  if (index == 0) word.remove_prefix(1);
  return word;
}

std::uint32_t natural_length(std::uint64_t answer) { return 16 + static_cast<std::uint32_t>(mix(~answer) % 113); }

std::vector<float> embedding(std::string_view text, std::uint32_t dimensions, std::uint64_t seed) {
  const std::uint64_t start = hash_text(text, seed);
  std::vector<float> values(dimensions);
  double sum = 0;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const double value = static_cast<double>(mix(start + i) >> 11) * 0x1p-52 - 1;  // uniform in [-1, 1)
    values[i] = static_cast<float>(value);
    sum += value * value;
  }
  const auto scale = static_cast<float>(1 / std::sqrt(std::max(sum, 1e-12)));
  for (float& value : values) value *= scale;
  return values;
}

std::string base64_floats(std::span<const float> values) {
  static_assert(std::endian::native == std::endian::little);
  const auto bytes = std::as_bytes(values);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends with a NUL
  const int written =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(written));
  return text;
}

}  // namespace brink::sim
