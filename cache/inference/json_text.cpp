#include "cache/inference/json_text.hpp"

#include <bit>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace brink::cache::inference {
namespace {

unsigned char byte_at(const char* at) { return static_cast<unsigned char>(*at); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_plain(char c) { return static_cast<signed char>(c) >= 0x20 && c != '"' && c != '\\'; }

// The length of the sequence at `at` (RFC 3629 section 4), 0: not well-formed, or ASCII.
std::size_t utf8_length(const char* at, const char* end) {
  const unsigned char lead = byte_at(at);
  const auto left = static_cast<std::size_t>(end - at);
  const auto tail = [&](std::size_t i) { return (byte_at(at + i) & 0xc0) == 0x80; };
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return left >= 2 && tail(1) ? 2 : 0;
  const unsigned char second = left >= 2 ? byte_at(at + 1) : 0;
  if (lead < 0xf0) {
    const bool in_range = lead == 0xe0 ? second >= 0xa0 : lead == 0xed ? second < 0xa0 : true;
    return left >= 3 && tail(1) && tail(2) && in_range ? 3 : 0;
  }
  const bool in_range = lead == 0xf0 ? second >= 0x90 : lead == 0xf4 ? second < 0x90 : true;
  return left >= 4 && tail(1) && tail(2) && tail(3) && in_range ? 4 : 0;
}

// -1: not a hexadecimal digit.
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four digits after \u.
const char* read_unit(const char* at, const char* end, std::uint32_t& unit) {
  if (end - at < 4) return nullptr;
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    const int value = hex_value(*at);
    if (value < 0) return nullptr;
    unit = unit * 16 + static_cast<std::uint32_t>(value);
  }
  return at;
}

// What a one-letter escape stands for; 0: there is no such escape.
char one_letter(char c) {
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const std::size_t at = names.find(c);
  return at == std::string_view::npos ? '\0' : meanings[at];
}

}  // namespace

const char* skip_space(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

const char* skip_plain(const char* at, const char* end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Compared as signed bytes, all beyond ASCII are below the space too.
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                         _mm_cmplt_epi8(bytes, space));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + std::countr_zero(mask);
    at += 16;
  }
#endif
  while (at != end && is_plain(*at)) ++at;
  return at;
}

const char* skip_utf8(const char* at, const char* end) {
  const char* const begin = at;
  while (at != end && byte_at(at) >= 0x80) {
    const std::size_t length = utf8_length(at, end);
    if (length == 0) return nullptr;
    at += length;
  }
  return at == begin ? nullptr : at;
}

const char* read_escape(const char* at, const char* end, std::uint32_t& code_point) {
  if (at == end) return nullptr;
  if (*at != 'u') {
    code_point = static_cast<unsigned char>(one_letter(*at));
    return code_point == 0 ? nullptr : at + 1;
  }
  at = read_unit(at + 1, end, code_point);
  if (at == nullptr || code_point < 0xd800 || code_point >= 0xe000) return at;
  std::uint32_t low = 0;
  if (code_point >= 0xdc00 || end - at < 6 || at[0] != '\\' || at[1] != 'u') return nullptr;
  at = read_unit(at + 2, end, low);
  if (at == nullptr || low < 0xdc00 || low >= 0xe000) return nullptr;
  code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
  return at;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3f))); };
  if (code_point < 0x80) return out.push_back(static_cast<char>(code_point));
  if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (code_point >> 6)));
    return tail(0);
  }
  if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (code_point >> 12)));
  } else {
    out.push_back(static_cast<char>(0xf0 | (code_point >> 18)));
    tail(12);
  }
  tail(6);
  tail(0);
}

const char* skip_string(const char* at, const char* end, bool& escaped) {
  escaped = false;
  while ((at = skip_plain(at, end)) != end) {
    if (*at == '"') return at + 1;
    if (*at == '\\') {
      std::uint32_t code_point = 0;
      escaped = true;
      at = read_escape(at + 1, end, code_point);
    } else {
      at = skip_utf8(at, end);
    }
    if (at == nullptr) return nullptr;
  }
  return nullptr;
}

std::string unescape(const char* begin, const char* end) {
  std::string out;
  out.reserve(static_cast<std::size_t>(end - begin));
  while (begin != end) {
    if (*begin != '\\') {
      out.push_back(*begin++);
      continue;
    }
    std::uint32_t code_point = 0;
    begin = read_escape(begin + 1, end, code_point);
    if (begin == nullptr) return out;
    append_utf8(out, code_point);
  }
  return out;
}

const char* skip_number(const char* at, const char* end) {
  const auto digits = [&] {
    const char* const begin = at;
    while (at != end && is_digit(*at)) ++at;
    return at != begin;
  };
  if (at != end && *at == '-') ++at;
  if (at != end && *at == '0') {
    ++at;
  } else if (!digits()) {
    return nullptr;
  }
  if (at != end && *at == '.') {
    ++at;
    if (!digits()) return nullptr;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return nullptr;
  }
  return at;
}

const char* skip_literal(const char* at, const char* end) {
  const std::string_view text(at, static_cast<std::size_t>(end - at));
  for (const std::string_view literal : {"true", "false", "null"}) {
    if (text.starts_with(literal)) return at + literal.size();
  }
  return nullptr;
}

}  // namespace brink::cache::inference
