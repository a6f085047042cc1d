#include "proxy/http/chunked.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "proxy/http/rules.hpp"

namespace brink::http {

namespace {

constexpr unsigned hex_value(char c) {
  if (c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

void skip_white_space(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

bool skip_token(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && detail::is(text[size], detail::token_char)) ++size;
  text.remove_prefix(size);
  return size > 0;
}

// REQUIRES: text has no control character but HTAB, and starts with a quote.
bool skip_quoted(std::string_view& text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (text[i] == '\\') ++i;
  }
  return false;
}

// chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ), RFC 9112 section 7.1.1.
bool are_extensions(std::string_view text) {
  while (!text.empty()) {
    skip_white_space(text);
    if (!text.starts_with(';')) return false;
    text.remove_prefix(1);
    skip_white_space(text);
    if (!skip_token(text)) return false;

    auto value = text;
    skip_white_space(value);
    if (!value.starts_with('=')) continue;
    value.remove_prefix(1);
    skip_white_space(value);
    if (!(value.starts_with('"') ? skip_quoted(value) : skip_token(value))) return false;
    text = value;
  }
  return true;
}

// `line` without its CRLF. Returns nullptr, or what is wrong.
const char* check_trailer(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon)))
    return "a trailer line does not start with a name and `:`";
  if (!is_field_value(line.substr(colon + 1))) return "a trailer value has a control character";
  if (!may_be_trailer(line.substr(0, colon))) return "a field stands in the trailers that must not";
  return nullptr;
}

}  // namespace

void ChunkedReader::reset() {
  state_ = State::size_line;
  cr_seen_ = false;
  line_size_ = 0;
  remaining_ = excess_ = 0;
  trailer_line_ = 0;
  error_ = nullptr;
  trailers_.clear();
}

void ChunkedReader::fail(const char* what) {
  state_ = State::failed;
  error_ = what;
}

// Takes the size line from the input, or from line_ where its beginning came with earlier input.
void ChunkedReader::read_size_line(std::string_view& input) {
  const auto lf = input.find('\n');
  const auto size = lf == input.npos ? input.size() : lf + 1;
  if (line_size_ + size > max_line) return fail("a chunk-size line is longer than the limit");
  auto line = input.substr(0, size);
  input.remove_prefix(size);
  if (lf == line.npos || line_size_ > 0) {
    std::copy(line.begin(), line.end(), line_.begin() + line_size_);
    line_size_ = static_cast<std::uint16_t>(line_size_ + size);
    line = {line_.data(), line_size_};
  }
  if (lf == std::string_view::npos) return;
  line_size_ = 0;
  take_size_line(line);
}

// chunk-size = 1*HEXDIG; no more than 16 digits and below 2^63, as for Content-Length.
void ChunkedReader::take_size_line(std::string_view line) {
  if (!line.ends_with("\r\n")) return fail("a chunk-size line ends in LF without CR");
  line.remove_suffix(2);
  std::uint64_t size = 0;
  std::size_t digits = 0;
  for (; digits < line.size() && detail::is(line[digits], detail::hex_char); ++digits) {
    if (digits == 16) return fail("a chunk size has more than 16 digits");
    size = size << 4 | hex_value(line[digits]);
  }
  if (digits == 0) return fail("a chunk does not start with its size");
  if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail("a chunk size is not below 2^63");
  }
  const auto extensions = line.substr(digits);
  if (!extensions.empty()) {
    if (!is_field_value(extensions)) return fail("a chunk extension has a control character");
    if (!are_extensions(extensions)) return fail("a chunk size is followed by what is no extension");
    excess_ += extensions.size();
    if (excess_ > max_excess) return fail("chunk extensions outweigh the content");
  }
  excess_ -= std::min(excess_, size);
  remaining_ = size;
  state_ = size > 0 ? State::data : State::trailer;
}

void ChunkedReader::read_data_end(std::string_view& input) {
  for (; !input.empty(); input.remove_prefix(1)) {
    if (input.front() != (cr_seen_ ? '\n' : '\r')) return fail("the data of a chunk does not end in CRLF");
    if (cr_seen_) {
      cr_seen_ = false;
      state_ = State::size_line;
      input.remove_prefix(1);
      return;
    }
    cr_seen_ = true;
  }
}

void ChunkedReader::read_trailer(std::string_view& input) {
  const auto lf = input.find('\n');
  const auto size = lf == input.npos ? input.size() : lf + 1;
  if (trailers_.size() + size > max_trailers) return fail("the trailer section is larger than the limit");
  trailers_.append(input.substr(0, size));
  input.remove_prefix(size);
  if (lf == input.npos) return;

  auto line = std::string_view(trailers_).substr(trailer_line_);
  if (!line.ends_with("\r\n")) return fail("a trailer line ends in LF without CR");
  line.remove_suffix(2);
  if (line.empty()) {
    trailers_.resize(trailer_line_);
    state_ = State::done;
    return;
  }
  if (const auto* what = check_trailer(line)) return fail(what);
  trailer_line_ = trailers_.size();
}

ChunkedReader::Result ChunkedReader::decode_in_place(char* buffer, std::size_t size) {
  Result result;
  std::string_view input(buffer, size);
  while (!input.empty() && state_ != State::done && state_ != State::failed) {
    switch (state_) {
      case State::size_line:
        read_size_line(input);
        break;
      case State::data: {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size()));
        if (result.decoded == 0) result.offset = size - input.size();
        char* const to = buffer + result.offset + result.decoded;
        if (to != input.data()) std::memmove(to, input.data(), piece);
        result.decoded += piece;
        remaining_ -= piece;
        input.remove_prefix(piece);
        if (remaining_ == 0) state_ = State::data_end;
        break;
      }
      case State::data_end:
        read_data_end(input);
        break;
      case State::trailer:
        read_trailer(input);
        break;
      case State::done:
      case State::failed:
        break;
    }
  }
  result.consumed = size - input.size();
  result.done = state_ == State::done;
  result.error = error_;
  return result;
}

ChunkedReader::Result ChunkedReader::decode(char* buffer, std::size_t size) {
  auto result = decode_in_place(buffer, size);
  if (result.offset != 0) std::memmove(buffer, buffer + result.offset, result.decoded);
  result.offset = 0;
  return result;
}

void append_chunk_size(std::string& out, std::size_t size) {
  char text[16];
  out.append(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, size, 16).ptr - text))
      .append("\r\n");
}

}  // namespace brink::http
