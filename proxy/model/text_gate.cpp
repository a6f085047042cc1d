#include "proxy/model/text_gate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace brink::model {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

struct Character {
  std::size_t size = 0;  // bytes of a whole character, or of the longest valid beginning; at least 1
  enum class Kind : unsigned char { whole, beginning, invalid } kind = Kind::invalid;
};

// A lead byte and the continuation bytes it announces are one character, and a bad one as a whole if they are an
// overlong form, a surrogate or above U+10FFFF (RFC 3629 section 3): so llama.cpp's grammars count, too.
Character first_character(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return {1, Character::Kind::whole};
  if (lead < 0xc0) return {1, Character::Kind::invalid};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  unsigned value = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i == bytes.size()) return {i, Character::Kind::beginning};
    if ((at(i) & 0xc0) != 0x80) return {i, Character::Kind::invalid};
    value = value << 6 | (at(i) & 0x3fU);
  }
  constexpr std::array<unsigned, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  const bool fits = lead < 0xf8 && value >= least[size] && value <= 0x10ffff && !is_surrogate;
  return {size, fits ? Character::Kind::whole : Character::Kind::invalid};
}

}  // namespace

std::string Utf8Gate::push(std::string_view bytes) {
  std::string input = std::exchange(held_, {});
  input += bytes;
  std::string out;
  std::string_view rest = input;
  while (!rest.empty()) {
    const Character character = first_character(rest);
    if (character.kind == Character::Kind::beginning) {
      held_ = rest;
      break;
    }
    out += character.kind == Character::Kind::whole ? rest.substr(0, character.size) : replacement;
    rest.remove_prefix(character.size);
  }
  return out;
}

std::string StopGate::push(std::string_view text) {
  if (stopped_) return {};
  held_ += text;
  std::size_t begin = std::string::npos, end = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  if (end != std::string::npos) {
    stopped_ = true;
    held_.resize(begin);
    return std::exchange(held_, {});
  }
  std::size_t keep = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, held_.size()); size > keep; --size) {
      if (held_.ends_with(std::string_view(stop).substr(0, size))) keep = size;
    }
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, out.size());
  return out;
}

std::string StopGate::flush() { return std::exchange(held_, {}); }

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.kind != Character::Kind::whole) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

bool is_utf8_beginning(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.kind == Character::Kind::invalid) return false;
    if (character.kind == Character::Kind::beginning) {
      // The lowest and the highest character that it can become; all bad ones lie in ranges of whole second bytes.
      const auto lead = static_cast<unsigned char>(text[0]);
      const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
      const std::string low = std::string(text) + std::string(size - text.size(), '\x80');
      const std::string high = std::string(text) + std::string(size - text.size(), '\xbf');
      return is_utf8(low) || is_utf8(high);
    }
    text.remove_prefix(character.size);
  }
  return true;
}

}  // namespace brink::model
