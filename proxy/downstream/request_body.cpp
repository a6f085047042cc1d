#include "proxy/downstream/request_body.hpp"

#include <algorithm>

namespace brink::downstream {

using http::BodyError;
using http::Framing;

std::size_t RequestBody::start(Framing framing, std::uint64_t length, std::uint64_t limit, char* first,
                               std::size_t first_size) {
  framing_ = framing;
  remaining_ = framing == Framing::length ? length : 0;
  limit_ = limit;
  complete_ = framing == Framing::none || (framing == Framing::length && length == 0);
  if (complete_ || first_size == 0) return first_size;
  net::Buffer none;
  return decode(first, first_size, none);
}

void RequestBody::reset() {
  segments_.clear();
  decoder_.reset();
  if (framing_ == Framing::chunked) reader_.reset();
  framing_ = Framing::none;
  current_ = offset_ = seen_ = unconsumed_ = 0;
  received_ = 0;
  dropped_ = raw_ = false;
  keeping_ = true;
  complete_ = true;
  error_ = BodyError::none;
  error_text_ = "";
}

void RequestBody::become_raw(std::string_view first) {
  reset();
  raw_ = true;
  complete_ = false;
  if (first.empty()) return;
  segments_.push_back({{}, first.data(), first.size(), nullptr});
  unconsumed_ = received_ = first.size();
}

http::BodyView RequestBody::view() const {
  if (current_ == segments_.size()) return {{}, complete_};
  const Segment& segment = segments_[current_];
  return {{segment.data + offset_, segment.size - offset_}, complete_ && current_ + 1 == segments_.size()};
}

bool RequestBody::drained() const { return complete_ && unconsumed_ == 0; }

void RequestBody::consume(std::size_t size) {
  unconsumed_ -= size;
  offset_ += size;
  while (current_ < segments_.size() && offset_ >= segments_[current_].size) {
    offset_ -= segments_[current_].size;
    compact(segments_[current_]);
    ++current_;
  }
  drop_consumed();
}

// A short piece does not keep a long buffer.
void RequestBody::compact(Segment& segment) {
  if (!segment.owner || segment.owner.capacity() <= 2 * segment.size) return;
  segment.text = std::make_unique<std::string>(segment.data, segment.size);
  segment.data = segment.text->data();
  segment.owner.reset();
}

void RequestBody::drop_consumed() {
  const auto memory = [](const Segment& segment) { return segment.owner || segment.text ? segment.size : 0; };
  std::size_t retained = 0;
  for (std::size_t i = 0; i < current_; ++i) retained += memory(segments_[i]);
  while (current_ > 0 && (raw_ || !keeping_ || retained > max_retained)) {
    retained -= memory(segments_.front());
    segments_.erase(segments_.begin());
    --current_;
    if (seen_ > 0) --seen_;
    dropped_ = true;
  }
}

void RequestBody::keep_nothing() {
  keeping_ = false;
  drop_consumed();
}

bool RequestBody::rewind() {
  if (dropped_) return false;
  current_ = offset_ = 0;
  unconsumed_ = 0;
  for (const Segment& segment : segments_) unconsumed_ += segment.size;
  return true;
}

std::string RequestBody::copy() const {
  std::string joined;
  joined.reserve(unconsumed_);
  for (std::size_t i = current_; i < segments_.size(); ++i) {
    const std::size_t begin = i == current_ ? offset_ : 0;
    joined.append(segments_[i].data + begin, segments_[i].size - begin);
  }
  return joined;
}

std::string_view RequestBody::unseen() {
  if (seen_ >= segments_.size()) return {};
  const Segment& segment = segments_[seen_++];
  return {segment.data, segment.size};
}

void RequestBody::set_limit(std::uint64_t limit) {
  limit_ = limit;
  if (!raw_ && (received_ > limit_ || (framing_ == Framing::length && received_ + remaining_ > limit_))) {
    error_ = BodyError::too_large;
    error_text_ = "the body is larger than this route takes";
  }
}

std::size_t RequestBody::read_size() const {
  constexpr std::size_t piece = net::BufferPool::large;
  return framing_ == Framing::length && !raw_ ? static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, piece))
                                              : piece;
}

std::size_t RequestBody::feed(net::Buffer& buffer, std::size_t size) {
  char* data = buffer.data();
  last_read_end_ = data + size;
  if (raw_) {
    received_ += size;
    unconsumed_ += size;
    segments_.push_back({std::move(buffer), data, size, nullptr});
    return 0;
  }
  return decode(data, size, buffer);
}

std::size_t RequestBody::decode(char* data, std::size_t size, net::Buffer& owner) {
  std::size_t consumed = 0;
  std::size_t decoded = 0;
  if (framing_ == Framing::length) {
    consumed = decoded = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, size));
    remaining_ -= decoded;
    complete_ = remaining_ == 0;
  } else {
    const auto result = reader_.decode(data, size);
    consumed = result.consumed;
    decoded = result.decoded;
    complete_ = result.done;
    if (result.error != nullptr) {
      error_ = BodyError::malformed;
      error_text_ = result.error;
      return 0;
    }
  }
  received_ += decoded;
  if (received_ > limit_) {
    error_ = BodyError::too_large;
    error_text_ = "the body is larger than this route takes";
    return 0;
  }
  if (decoder_) {
    take_coding_off({data, decoded}, complete_);
  } else if (decoded > 0) {
    keep(std::move(owner), data, decoded);
  }
  return size - consumed;
}

void RequestBody::keep(net::Buffer owner, const char* data, std::size_t size) {
  unconsumed_ += size;
  segments_.push_back({std::move(owner), data, size, nullptr});
}

void RequestBody::decode(const filter::Codings& codings) {
  decoder_.emplace(codings, limit_);
  const std::vector<Segment> encoded = std::move(segments_);
  segments_.clear();
  unconsumed_ = 0;
  for (const Segment& segment : encoded) take_coding_off({segment.data, segment.size}, false);
  if (complete_) take_coding_off({}, true);
}

void RequestBody::take_coding_off(std::string_view bytes, bool last) {
  filter::Decoder::Result result;
  while (error_ == BodyError::none) {
    auto text = std::make_unique<std::string>();
    result = decoder_->decode(bytes, *text);
    bytes.remove_prefix(result.consumed);
    if (!text->empty()) {
      unconsumed_ += text->size();
      segments_.push_back({{}, text->data(), text->size(), nullptr});
      segments_.back().text = std::move(text);
    }
    if (result.error != filter::DecodeError::none || !result.more) break;
  }
  if (last && error_ == BodyError::none && result.error == filter::DecodeError::none) result = decoder_->finish();
  if (result.error == filter::DecodeError::none) return;
  error_ = result.error == filter::DecodeError::too_large ? BodyError::too_large : BodyError::undecodable;
  error_text_ = result.what;
}

}  // namespace brink::downstream
