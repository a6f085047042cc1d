#include "cache/inference/sse_reader.hpp"

namespace brink::cache::inference {

SseReader::Step SseReader::next(std::string_view& bytes) {
  if (too_large_) return Step::too_large;
  if (dispatched_) {
    data_.clear();
    event_.clear();
    has_data_ = dispatched_ = false;
  }
  while (!bytes.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (piece.size() > max_event_ - line_.size()) return overflow();
    if (end == std::string_view::npos) {
      line_.append(piece);
      bytes = {};
      return Step::more;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    Step step = Step::more;
    if (line_.empty()) {
      step = end_line(piece);
    } else {
      line_.append(piece);
      step = end_line(line_);
      line_.clear();
    }
    if (step != Step::more) return step;
  }
  return Step::more;
}

SseReader::Step SseReader::finish() {
  std::string_view line_end = "\n";
  const Step step = next(line_end);
  return step == Step::more ? end_event() : step;
}

SseReader::Step SseReader::end_line(std::string_view line) {
  if (at_start_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  at_start_ = false;
  if (line.empty()) return end_event();
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") event_ = value;
  if (name != "data") return Step::more;
  if (value.size() >= max_event_ - data_.size()) return overflow();
  if (has_data_) data_.push_back('\n');
  data_.append(value);
  has_data_ = true;
  return Step::more;
}

SseReader::Step SseReader::end_event() {
  if (!has_data_ && event_.empty()) return Step::more;
  dispatched_ = true;
  return Step::event;
}

SseReader::Step SseReader::overflow() {
  too_large_ = true;
  return Step::too_large;
}

}  // namespace brink::cache::inference
