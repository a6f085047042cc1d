#include "router/json_text.hpp"

namespace brink::router {
namespace {

// -1: not a hexadecimal digit.
int hex_value(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

// What a one-letter escape stands for; 0: there is no such escape.
char escaped(char byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return byte;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

}  // namespace

void JsonText::start() {
  text_.clear();
  where_ = Where::plain;
  high_ = 0;
  too_long_ = false;
}

JsonText::Step JsonText::feed(char byte) {
  if (where_ == Where::escape) return feed_escape(byte);
  if (where_ == Where::hex) return feed_hex(byte);
  if (byte == '\\') {
    where_ = Where::escape;
    return Step::more;
  }
  if (high_ != 0 || static_cast<unsigned char>(byte) < 0x20) return Step::malformed;
  if (byte == '"') return Step::closed;
  append(byte);
  return Step::more;
}

JsonText::Step JsonText::feed_escape(char byte) {
  if (byte == 'u') {
    where_ = Where::hex;
    unit_ = 0;
    digits_ = 0;
    return Step::more;
  }
  const char meaning = escaped(byte);
  if (meaning == 0 || high_ != 0) return Step::malformed;
  where_ = Where::plain;
  append(meaning);
  return Step::more;
}

JsonText::Step JsonText::feed_hex(char byte) {
  const int value = hex_value(byte);
  if (value < 0) return Step::malformed;
  unit_ = unit_ * 16 + static_cast<std::uint32_t>(value);
  if (++digits_ < 4) return Step::more;
  where_ = Where::plain;
  const bool is_high = unit_ >= 0xd800 && unit_ < 0xdc00;
  const bool is_low = unit_ >= 0xdc00 && unit_ < 0xe000;
  if (is_low != (high_ != 0)) return Step::malformed;
  if (is_high) {
    high_ = unit_;
    return Step::more;
  }
  append_code_point(is_low ? 0x10000 + ((high_ - 0xd800) << 10) + (unit_ - 0xdc00) : unit_);
  high_ = 0;
  return Step::more;
}

void JsonText::append(char byte) {
  if (text_.size() < most_)
    text_.push_back(byte);
  else
    too_long_ = true;
}

void JsonText::append_code_point(std::uint32_t code_point) {
  const auto tail = [&](unsigned shift) { append(static_cast<char>(0x80 | ((code_point >> shift) & 0x3f))); };
  if (code_point < 0x80) return append(static_cast<char>(code_point));
  if (code_point < 0x800) {
    append(static_cast<char>(0xc0 | (code_point >> 6)));
    return tail(0);
  }
  if (code_point < 0x10000) {
    append(static_cast<char>(0xe0 | (code_point >> 12)));
  } else {
    append(static_cast<char>(0xf0 | (code_point >> 18)));
    tail(12);
  }
  tail(6);
  tail(0);
}

}  // namespace brink::router
