#include "proxy/model/text_gate.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace brink::model {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

struct Character {
  std::size_t size = 0;  // bytes of a whole character, or of the longest valid beginning; at least 1
  enum class Kind : unsigned char { whole, beginning, invalid } kind = Kind::invalid;
};

// The ranges of the second byte close out surrogates, overlong forms and what lies above U+10FFFF (RFC 3629 section 4).
Character first_character(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, Character::Kind::whole};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {1, Character::Kind::invalid};
  for (std::size_t i = 1; i < size; ++i) {
    if (i == bytes.size()) return {i, Character::Kind::beginning};
    unsigned char low = 0x80, high = 0xbf;
    if (i == 1 && lead == 0xe0) low = 0xa0;
    if (i == 1 && lead == 0xed) high = 0x9f;
    if (i == 1 && lead == 0xf0) low = 0x90;
    if (i == 1 && lead == 0xf4) high = 0x8f;
    if (at(i) < low || at(i) > high) return {i, Character::Kind::invalid};
  }
  return {size, Character::Kind::whole};
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

}  // namespace brink::model
