#include "router/model_scanner.hpp"

#include "router/json_bytes.hpp"

namespace brink::router {
namespace {

constexpr std::ptrdiff_t block_size = 64;
constexpr std::string_view wanted = "model";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

// Numbers and literals, with Python's NaN and Infinity, which are no JSON but are sent.
bool is_scalar(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '+' ||
         byte == '-' || byte == '.';
}

}  // namespace

ModelScanner::State ModelScanner::feed(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end && state_ == State::searching) {
    if (depth_ > 0) {
      at = skip_blocks(at, end);
      // What the blocks stopped at, then blocks again.
      const char* const stop = end - at > block_size ? at + block_size : end;
      while (at != stop && depth_ > 0) at = where_ == Where::string ? skip_string(at, stop) : skip_nested(at, stop);
    } else if (where_ == Where::string || where_ == Where::long_key) {
      at = skip_string(at, end);
    } else {
      step(*at, consumed_ + static_cast<std::uint64_t>(at - bytes.data()));
      ++at;
    }
  }
  consumed_ += bytes.size();
  return state_;
}

ModelScanner::State ModelScanner::finish() {
  if (state_ == State::searching) state_ = State::absent;
  return state_;
}

const char* ModelScanner::skip_blocks(const char* at, const char* end) {
  Nesting nesting{depth_, where_ == Where::string, escaped_};
  at = skip_nested_blocks(at, end, nesting);
  depth_ = nesting.depth;
  where_ = nesting.in_string ? Where::string : Where::nested;
  escaped_ = nesting.escaped;
  return at;
}

const char* ModelScanner::skip_string(const char* at, const char* end) {
  while (at != end) {
    if (escaped_) {
      escaped_ = false;
      if (++at == end) break;
    }
    at = find_string_special(at, end);
    if (at == end) break;
    if (*at++ == '\\') {
      escaped_ = true;
      continue;
    }
    if (where_ == Where::long_key)
      where_ = Where::colon;
    else
      where_ = depth_ > 0 ? Where::nested : Where::after_value;
    break;
  }
  return at;
}

const char* ModelScanner::skip_nested(const char* at, const char* end) {
  while ((at = find_structural(at, end)) != end) {
    const char byte = *at++;
    if (byte == '"') {
      where_ = Where::string;
      break;
    }
    if (byte == '{' || byte == '[') ++depth_;
    if ((byte == '}' || byte == ']') && --depth_ == 0) {
      where_ = Where::after_value;
      break;
    }
  }
  return at;
}

void ModelScanner::expect(bool right, Where next) {
  if (right)
    where_ = next;
  else
    state_ = State::absent;
}

void ModelScanner::step(char byte, std::uint64_t offset) {
  if (where_ == Where::key) return step_key(byte);
  if (where_ == Where::model) return step_model(byte, offset);
  if (where_ == Where::scalar) {
    if (!is_scalar(byte)) {
      where_ = Where::after_value;
      if (!is_space(byte)) step_after_value(byte);
    }
    return;
  }
  if (is_space(byte)) return;
  switch (where_) {
    case Where::before_object:
      return step_before_object(byte, offset);
    case Where::first_key:
    case Where::next_key:
      // An object may end before its first member, not after a comma: both are the end of the search.
      text_.start();
      return expect(byte == '"', Where::key);
    case Where::colon:
      return expect(byte == ':', Where::value);
    case Where::value:
      return step_value(byte, offset);
    default:
      return step_after_value(byte);
  }
}

void ModelScanner::step_before_object(char byte, std::uint64_t offset) {
  // RFC 8259 section 8.1: a parser may ignore a byte order mark, and some clients send one.
  if (mark_ < byte_order_mark.size() && offset == mark_ && byte == byte_order_mark[mark_]) {
    ++mark_;
    return;
  }
  expect(byte == '{' && (mark_ == 0 || mark_ == byte_order_mark.size()), Where::first_key);
}

void ModelScanner::step_key(char byte) {
  switch (text_.feed(byte)) {
    case JsonText::Step::more:
      if (text_.text().size() > wanted.size()) where_ = Where::long_key;
      return;
    case JsonText::Step::closed:
      is_model_ = text_.text() == wanted;
      where_ = Where::colon;
      return;
    case JsonText::Step::malformed:
      state_ = State::absent;
      return;
  }
}

void ModelScanner::step_value(char byte, std::uint64_t offset) {
  if (is_model_) {
    value_begin_ = offset;
    text_.start();
    return expect(byte == '"', Where::model);
  }
  if (byte == '{' || byte == '[') {
    depth_ = 1;
    where_ = Where::nested;
    return;
  }
  if (byte == '"') {
    where_ = Where::string;
    return;
  }
  expect(is_scalar(byte), Where::scalar);
}

void ModelScanner::step_model(char byte, std::uint64_t offset) {
  const JsonText::Step step = text_.feed(byte);
  if (step == JsonText::Step::malformed || text_.too_long()) {
    state_ = State::absent;
  } else if (step == JsonText::Step::closed) {
    state_ = State::found;
    value_end_ = offset + 1;
  }
}

void ModelScanner::step_after_value(char byte) { expect(byte == ',', Where::next_key); }

}  // namespace brink::router
