#include "proxy/filter/encoder.hpp"

#include <algorithm>
#include <bit>

namespace brink::filter {

namespace {

constexpr int events_window_log = 13;
constexpr int unknown_window_log = 17;
constexpr int min_window_log = 10;  // the least that zstd has
constexpr int max_window_log = 21;
static_assert(max_window_log <= 23, "RFC 9659: no frame may need more than 8 MB");

}  // namespace

bool Encoder::begin(const EncoderSpec& spec) {
  error_ = nullptr;
  finished_ = false;
  left_ = spec.length;
  return start(spec);
}

bool Encoder::encode(std::string_view in, bool flush, bool last, std::string& out) {
  if (error_ == nullptr && finished_) error_ = "the encoded body has ended already";
  if (error_ == nullptr && left_ && in.size() > *left_) error_ = "the body is longer than it was said to be";
  if (error_ == nullptr && left_ && last && in.size() < *left_) error_ = "the body is shorter than it was said to be";
  if (error_ != nullptr) return false;
  if (left_) *left_ -= in.size();
  error_ = run(in, flush, last, out);
  finished_ = error_ == nullptr && last;
  return error_ == nullptr;
}

int window_log(const EncoderSpec& spec) {
  if (spec.length) {
    const auto bits = std::bit_width(*spec.length == 0 ? 0 : *spec.length - 1);
    return std::clamp(static_cast<int>(bits), min_window_log, max_window_log);
  }
  return spec.events ? events_window_log : unknown_window_log;
}

int gzip_level(int level) {
  if (level <= 2) return std::max(level, 1);
  if (level <= 5) return level + 1;
  if (level <= 9) return 6 + (level - 5) / 3;
  return level <= 12 ? 8 : 9;
}

}  // namespace brink::filter
