#include "cache/inference/json_reader.hpp"

#include <charconv>

#include "cache/inference/json_text.hpp"

namespace brink::cache::inference {

bool JsonReader::fail() {
  ok_ = false;
  at_ = end_;
  return false;
}

JsonReader::Kind JsonReader::peek() {
  at_ = skip_space(at_, end_);
  if (at_ == end_) return Kind::none;
  switch (*at_) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return *at_ == '-' || (*at_ >= '0' && *at_ <= '9') ? Kind::number : Kind::none;
  }
}

bool JsonReader::enter(char bracket) {
  at_ = skip_space(at_, end_);
  if (at_ == end_ || *at_ != bracket || ++depth_ > limits_.depth) return fail();
  ++at_;
  return first_ = true;
}

bool JsonReader::enter_object() { return enter('{'); }
bool JsonReader::enter_array() { return enter('['); }

bool JsonReader::next(char closing) {
  if (!ok_) return false;
  at_ = skip_space(at_, end_);
  if (at_ == end_) return fail();
  if (*at_ == closing) {
    ++at_;
    --depth_;
    return first_ = false;
  }
  if (!first_) {
    if (*at_ != ',') return fail();
    ++at_;
  }
  first_ = false;
  return true;
}

bool JsonReader::next_element() { return next(']'); }

bool JsonReader::next_member() {
  if (!next('}')) return false;
  bool escaped = false;
  if (!read_raw_string(name_, escaped)) return false;
  if (escaped) {
    name_text_ = unescape(name_.data(), name_.data() + name_.size());
    name_ = name_text_;
  }
  at_ = skip_space(at_, end_);
  if (at_ == end_ || *at_ != ':') return fail();
  ++at_;
  return true;
}

bool JsonReader::read_raw_string(std::string_view& inside, bool& escaped) {
  at_ = skip_space(at_, end_);
  if (at_ == end_ || *at_ != '"') return fail();
  const char* const begin = at_ + 1;
  const char* const after = skip_string(begin, end_, escaped);
  if (after == nullptr) return fail();
  inside = {begin, static_cast<std::size_t>(after - 1 - begin)};
  at_ = after;
  return true;
}

bool JsonReader::read_string(std::string& out) {
  std::string_view inside;
  bool escaped = false;
  if (!read_raw_string(inside, escaped)) return false;
  if (escaped)
    out = unescape(inside.data(), inside.data() + inside.size());
  else
    out = inside;
  return true;
}

bool JsonReader::read_boolean(bool& out) {
  if (peek() != Kind::boolean) return fail();
  out = *at_ == 't';
  return skip();
}

bool JsonReader::read_number(std::string_view& out) { return peek() == Kind::number ? skip(out) : fail(); }

bool JsonReader::read_index(std::size_t& out) {
  std::string_view text;
  if (!read_number(text)) return false;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return fail();
  out = value;
  return true;
}

bool JsonReader::skip(std::string_view& out) {
  at_ = skip_space(at_, end_);
  const char* const begin = at_;
  if (!skip()) return false;
  out = {begin, static_cast<std::size_t>(at_ - begin)};
  return true;
}

bool JsonReader::fits(std::string_view number) const {
  constexpr std::size_t surely = 18;  // digits
  if (limits_.huge_integers || number.size() <= surely || number.find_first_of(".eE") != std::string_view::npos)
    return true;
  std::int64_t with_sign = 0;
  std::uint64_t without = 0;
  const char* const end = number.data() + number.size();
  return std::from_chars(number.data(), end, with_sign).ec == std::errc{} ||
         std::from_chars(number.data(), end, without).ec == std::errc{};
}

bool JsonReader::skip() {
  const char* after = nullptr;
  bool escaped = false;
  switch (peek()) {
    case Kind::object: {
      enter_object();
      std::size_t members = 0;
      while (next_member()) {
        if (++members > limits_.members) return fail();
        skip();
      }
      return ok_;
    }
    case Kind::array:
      enter_array();
      while (next_element()) skip();
      return ok_;
    case Kind::string:
      after = skip_string(at_ + 1, end_, escaped);
      break;
    case Kind::number:
      after = skip_number(at_, end_);
      if (after != nullptr && !fits({at_, static_cast<std::size_t>(after - at_)})) return fail();
      break;
    case Kind::boolean:
    case Kind::null:
      after = skip_literal(at_, end_);
      break;
    case Kind::none:
      break;
  }
  if (after == nullptr) return fail();
  at_ = after;
  return true;
}

bool JsonReader::done() {
  at_ = skip_space(at_, end_);
  return ok_ && at_ == end_;
}

}  // namespace brink::cache::inference
