#include "router/json_bytes.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace brink::router {
namespace {

// [ ] { } differ in these bits only: with them set, all four are DEL.
constexpr unsigned char bracket_bits = 0x26;
constexpr unsigned char brackets = 0x7f;

struct StringSpecial {
  static bool is(char byte) { return byte == '"' || byte == '\\'; }
#ifdef __SSE2__
  static __m128i match(__m128i bytes) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  }
#else
  static bool any(std::uint64_t word);
#endif
};

struct Structural {
  static bool is(char byte) { return byte == '"' || (static_cast<unsigned char>(byte) | bracket_bits) == brackets; }
#ifdef __SSE2__
  static __m128i match(__m128i bytes) {
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(bracket_bits));
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(folded, _mm_set1_epi8(brackets)));
  }
#else
  static bool any(std::uint64_t word);
#endif
};

#ifdef __SSE2__

__m128i load(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

template <typename What>
const char* skip_blocks(const char* at, const char* end) {
  for (; end - at >= 64; at += 64) {
    const __m128i low = _mm_or_si128(What::match(load(at)), What::match(load(at + 16)));
    const __m128i high = _mm_or_si128(What::match(load(at + 32)), What::match(load(at + 48)));
    if (_mm_movemask_epi8(_mm_or_si128(low, high)) != 0) break;
  }
  for (; end - at >= 16; at += 16)
    if (const int mask = _mm_movemask_epi8(What::match(load(at))); mask != 0)
      return at + __builtin_ctz(static_cast<unsigned>(mask));
  return at;
}

// One bit for each byte of a block of 64.
struct Block {
  explicit Block(const char* at) : parts{load(at), load(at + 16), load(at + 32), load(at + 48)} {}
  std::uint64_t equal(char byte, char folded_by = 0) const {
    std::uint64_t bits = 0;
    for (int i = 3; i >= 0; --i) {
      const __m128i folded = _mm_or_si128(parts[i], _mm_set1_epi8(folded_by));
      const int part = _mm_movemask_epi8(_mm_cmpeq_epi8(folded, _mm_set1_epi8(byte)));
      bits = (bits << 16) | static_cast<std::uint64_t>(part);
    }
    return bits;
  }
  __m128i parts[4];
};

// The bytes that a backslash escapes. `carry`: whether the first one is, and afterwards whether the next block's is.
std::uint64_t escaped_bytes(std::uint64_t backslashes, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  carry = false;
  for (; backslashes != 0; backslashes &= backslashes - 1) {
    const std::uint64_t bit = backslashes & -backslashes;
    if ((escaped & bit) != 0) continue;
    escaped |= bit << 1;
    carry = bit >> 63 != 0;
  }
  return escaped;
}

// Each bit becomes the parity of itself and all below: from quotes, the bytes from an opening one to before its
// closing.
std::uint64_t parity_below(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

#else

constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t highs = 0x8080808080808080;

// Whether a byte of the word is zero (Hacker's Delight 6-1; exact as a yes or no).
bool has_zero(std::uint64_t word) { return ((word - ones) & ~word & highs) != 0; }

bool StringSpecial::any(std::uint64_t word) { return has_zero(word ^ (ones * '"')) || has_zero(word ^ (ones * '\\')); }

bool Structural::any(std::uint64_t word) {
  return has_zero(word ^ (ones * '"')) || has_zero((word | (ones * bracket_bits)) ^ (ones * brackets));
}

template <typename What>
const char* skip_blocks(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if (What::any(word)) break;
  }
  return at;
}

#endif

template <typename What>
const char* find(const char* begin, const char* end) {
  const char* at = skip_blocks<What>(begin, end);
  while (at != end && !What::is(*at)) ++at;
  return at;
}

}  // namespace

const char* find_string_special(const char* begin, const char* end) { return find<StringSpecial>(begin, end); }

#ifdef __SSE2__

const char* skip_nested_blocks(const char* at, const char* end, Nesting& nesting) {
  for (; end - at >= 64; at += 64) {
    const Block block(at);
    const std::uint64_t quotes = block.equal('"');
    const std::uint64_t backslashes = block.equal('\\');
    bool escaped = nesting.escaped;
    const std::uint64_t real_quotes = quotes & ~escaped_bytes(backslashes, escaped);
    if (real_quotes == 0 && nesting.in_string) {  // nothing but prompt
      nesting.escaped = escaped;
      continue;
    }
    const std::uint64_t inside = parity_below(real_quotes) ^ (nesting.in_string ? ~0ull : 0);
    // '[' and '{' differ in 0x20 only, ']' and '}' as well.
    const auto closed = static_cast<std::uint64_t>(std::popcount(block.equal('}', 0x20) & ~inside));
    if (closed >= nesting.depth || (backslashes & ~inside) != 0) break;
    const auto opened = static_cast<std::uint64_t>(std::popcount(block.equal('{', 0x20) & ~inside));
    nesting = {nesting.depth + opened - closed, inside >> 63 != 0, escaped};
  }
  return at;
}

#else

const char* skip_nested_blocks(const char* at, const char*, Nesting&) { return at; }

#endif

const char* find_structural(const char* begin, const char* end) { return find<Structural>(begin, end); }

}  // namespace brink::router
