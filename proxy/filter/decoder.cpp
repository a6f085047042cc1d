#include "proxy/filter/decoder.hpp"

#include <algorithm>
#include <limits>

#include "proxy/filter/decoder_stage.hpp"
#include "proxy/http/rules.hpp"

namespace brink::filter {

namespace {

constexpr std::size_t least_room = std::size_t{4} * 1024;  // of a call's output; with short input
constexpr std::size_t between_room = std::size_t{16} * 1024;

// What one coding may deliver to the other: of an incompressible body a little more than the body. Without it a small
// body could hide any amount of work between the two.
std::uint64_t most_between(std::uint64_t max_size) {
  const auto slack = max_size / 64 + 4096;
  return max_size > std::numeric_limits<std::uint64_t>::max() - slack ? max_size : max_size + slack;
}

std::unique_ptr<DecoderStage> make_stage(Coding coding) {
  return coding == Coding::zstd ? make_zstd_decoder() : make_gzip_decoder();
}

}  // namespace

unsigned status_of(DecodeError error) {
  switch (error) {
    case DecodeError::none:
      return 200;
    case DecodeError::malformed:
      return 400;
    case DecodeError::too_large:
      return 413;
    case DecodeError::unsupported:
      return 415;
    case DecodeError::no_memory:
      return 503;
  }
  return 400;
}

void Codings::add(std::string_view value) {
  http::ListCursor cursor{.rest = value};
  while (cursor.more && error == DecodeError::none) {
    const auto name = cursor.next();
    if (name.empty()) continue;  // RFC 9110 section 5.6.1.2
    const auto coding = coding_of(name);
    if (!coding || (*coding != Coding::identity && size == max)) {
      error = DecodeError::unsupported;
    } else if (*coding != Coding::identity) {
      list[size++] = *coding;
    }
  }
}

Decoder::Decoder(const Codings& codings, std::uint64_t max_size) : stage_count_(codings.size), max_size_(max_size) {
  if (codings.error != DecodeError::none || codings.size == 0) {
    fail(DecodeError::unsupported, "no coding that can be taken off", 0);
  }
  for (std::size_t i = 0; i < stage_count_; ++i) {
    stages_[i] = make_stage(codings.list[stage_count_ - 1 - i]);
    if (!stages_[i]) fail(DecodeError::no_memory, "no memory to decompress", 0);
  }
}

Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Decoder::Result Decoder::fail(DecodeError error, const char* what, std::size_t consumed) {
  failed_ = {.consumed = 0, .more = false, .error = error, .what = what};
  auto result = failed_;
  result.consumed = consumed;
  return result;
}

Decoder::Result Decoder::decode(std::string_view in, std::string& out) {
  if (failed_.error != DecodeError::none) return failed_;
  const auto before = out.size();
  const auto left = max_size_ - size_;
  auto room = std::clamp(in.size() * 8, least_room, piece);
  // One byte more than the limit leaves is enough to see that it is passed.
  if (left < room) room = static_cast<std::size_t>(left) + 1;
  out.resize(before + room);
  std::size_t written = 0;
  auto result = run_stages(in, {out.data() + before, room}, written);
  const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(written, left));
  out.resize(before + kept);
  size_ += kept;
  if (written > left) return fail(DecodeError::too_large, "the decoded body is larger than allowed", result.consumed);
  return result;
}

Decoder::Result Decoder::run_stages(std::string_view in, std::span<char> room, std::size_t& written) {
  auto& last = *stages_[stage_count_ - 1];
  Result result;
  for (;;) {
    const bool two = stage_count_ == 2;
    if (two && !fill_between(in, result)) return result;
    const auto input = two ? std::string_view(between_).substr(between_taken_) : in.substr(result.consumed);
    const auto step = last.step(input, room.data() + written, room.size() - written);
    written += step.written;
    (two ? between_taken_ : result.consumed) += step.consumed;
    if (step.error != DecodeError::none) return fail(step.error, step.what, result.consumed);
    result.more = written == room.size();
    // Short of a full room a stage takes all it is given.
    if (result.more || !two || (!between_full_ && result.consumed == in.size())) return result;
  }
}

Decoder::Result Decoder::finish() {
  if (failed_.error != DecodeError::none) return failed_;
  const bool complete =
      std::all_of(stages_.begin(), stages_.begin() + stage_count_, [](const auto& stage) { return stage->complete(); });
  if (!complete) return fail(DecodeError::malformed, "the encoded body is cut short", 0);
  return {};
}

// Gives the second stage something to read, once it has read all there was. False: failed.
bool Decoder::fill_between(std::string_view in, Result& result) {
  if (between_taken_ < between_.size()) return true;
  between_.resize(between_room);
  between_taken_ = 0;
  const auto step = stages_[0]->step(in.substr(result.consumed), between_.data(), between_.size());
  between_.resize(step.written);
  between_full_ = step.written == between_room;
  between_size_ += step.written;
  result.consumed += step.consumed;
  if (step.error != DecodeError::none) {
    result = fail(step.error, step.what, result.consumed);
  } else if (between_size_ > most_between(max_size_)) {
    result = fail(DecodeError::too_large, "the body is larger than allowed between its codings", result.consumed);
  }
  return result.error == DecodeError::none;
}

}  // namespace brink::filter
