#include "tests/bench/response.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace brink::bench {
namespace {

constexpr std::size_t max_head_bytes = 32'768;
constexpr std::size_t max_line_bytes = 1024;  // of a chunk size or trailer line
constexpr std::string_view event_prefix = "data: {\"i\":";
constexpr std::size_t event_line_bytes = event_prefix.size() + 20;

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool parse_number(std::string_view text, int base, std::uint64_t& value) {
  return std::from_chars(text.data(), text.data() + text.size(), value, base).ec == std::errc{};
}

}  // namespace

void EventCounter::feed(std::string_view body) {
  while (!body.empty()) {
    const std::size_t end = body.find('\n');
    const std::string_view part = body.substr(0, end);
    if (end != body.npos && line_.empty()) {
      on_line(part);
    } else {
      line_ += part.substr(0, event_line_bytes - std::min(event_line_bytes, line_.size()));
      if (end == body.npos) return;
      on_line(line_);
      line_.clear();
    }
    body.remove_prefix(end + 1);
  }
}

void EventCounter::on_line(std::string_view line) {
  if (line == "data: [DONE]") {
    done_ = true;
  } else if (line.starts_with("data:")) {
    std::uint64_t number = 0;
    const bool read = line.starts_with(event_prefix) && parse_number(line.substr(event_prefix.size()), 10, number);
    if (!read || number != in_order_ || done_) {
      disordered_ = true;
    } else {
      ++in_order_;
    }
  }
}

std::size_t ResponseReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (state_ == State::reading && taken < bytes.size()) {
    const std::string_view rest = bytes.substr(taken);
    switch (part_) {
      case Part::head:
        taken += feed_head(rest);
        break;
      case Part::fixed:
      case Part::chunk_data:
      case Part::until_close:
        taken += feed_data(rest);
        break;
      case Part::chunk_size:
      case Part::chunk_end:
      case Part::trailer:
        taken += feed_line(rest);
        break;
    }
  }
  return taken;
}

void ResponseReader::end_of_input() {
  if (state_ != State::reading) return;
  keep_alive_ = false;
  state_ = part_ == Part::until_close ? State::complete : State::broken;
}

std::size_t ResponseReader::feed_head(std::string_view bytes) {
  if (text_.empty()) {  // nearly always the whole head comes at once, then it is not copied
    if (const std::size_t end = bytes.find("\r\n\r\n"); end != bytes.npos) {
      on_head(bytes.substr(0, end + 2));
      return end + 4;
    }
  }
  const std::size_t before = text_.size();
  text_ += bytes;
  const std::size_t end = text_.find("\r\n\r\n");
  if (end == text_.npos) {
    if (text_.size() > max_head_bytes) state_ = State::broken;
    return bytes.size();
  }
  const std::string head = text_.substr(0, end + 2);
  text_.clear();
  on_head(head);
  return end + 4 - before;
}

// `head` is the status line and the fields, each with its CRLF.
void ResponseReader::on_head(std::string_view head) {
  std::uint64_t status = 0;
  const std::size_t line_end = head.find("\r\n");
  if (!head.starts_with("HTTP/1.") || line_end < 12 || !parse_number(head.substr(9, 3), 10, status)) {
    state_ = State::broken;
    return;
  }
  keep_alive_ = head[7] == '1';
  part_ = Part::until_close;
  for (head.remove_prefix(line_end + 2); !head.empty();) {
    const std::size_t end = head.find("\r\n");
    const std::string_view field = head.substr(0, end);
    const std::size_t colon = std::min(field.find(':'), field.size());
    const std::size_t value = std::min(field.find_first_not_of(" \t", colon + 1), field.size());
    on_field(field.substr(0, colon), field.substr(value));
    head.remove_prefix(end + 2);
  }
  if (state_ != State::reading) return;
  if (status < 200) {  // an interim response: the real one follows
    part_ = Part::head;
    return;
  }
  status_ = static_cast<int>(status);
  if (part_ == Part::fixed && left_ == 0) state_ = State::complete;
}

void ResponseReader::on_field(std::string_view name, std::string_view value) {
  if (same(name, "content-length")) {
    if (part_ == Part::until_close) part_ = Part::fixed;
    if (!parse_number(value, 10, left_)) state_ = State::broken;
  } else if (same(name, "transfer-encoding") && same(value, "chunked")) {
    part_ = Part::chunk_size;
  } else if (same(name, "connection") && same(value, "close")) {
    keep_alive_ = false;
  }
}

std::size_t ResponseReader::feed_data(std::string_view bytes) {
  const std::size_t count = part_ == Part::until_close
                                ? bytes.size()
                                : static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  body_bytes_ += count;
  if (count_events_) events_.feed(bytes.substr(0, count));
  if (part_ == Part::until_close) return count;
  left_ -= count;
  if (left_ == 0 && part_ == Part::fixed) state_ = State::complete;
  if (left_ == 0 && part_ == Part::chunk_data) part_ = Part::chunk_end;
  return count;
}

std::size_t ResponseReader::feed_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  text_ += bytes.substr(0, end);
  if (text_.size() > max_line_bytes) state_ = State::broken;
  if (end == bytes.npos) return bytes.size();
  if (text_.ends_with('\r')) {
    text_.pop_back();
    on_line(text_);
  } else {
    state_ = State::broken;
  }
  text_.clear();
  return end + 1;
}

void ResponseReader::on_line(std::string_view line) {
  if (part_ == Part::chunk_size) {
    if (!parse_number(line, 16, left_)) state_ = State::broken;
    part_ = left_ == 0 ? Part::trailer : Part::chunk_data;
  } else if (part_ == Part::chunk_end) {
    if (!line.empty()) state_ = State::broken;
    part_ = Part::chunk_size;
  } else if (line.empty()) {
    state_ = State::complete;
  }
}

}  // namespace brink::bench
