#include "proxy/filter/encoder_pool.hpp"

#include "proxy/filter/gzip_encoder.hpp"
#include "proxy/filter/zstd_encoder.hpp"

namespace brink::filter {

namespace {

constexpr std::uint64_t small_body = std::uint64_t{64} * 1024;

}  // namespace

void EncoderPool::GiveBack::operator()(Encoder* encoder) const { pool->take_back(encoder); }

EncoderPool::Kind EncoderPool::kind_of(const EncoderSpec& spec) {
  const bool events = spec.events && !spec.length;
  if (spec.coding == Coding::gzip) return events ? gzip_events : gzip_bodies;
  if (events) return zstd_events;
  if (!spec.length) return zstd_unknown;
  return *spec.length <= small_body ? zstd_small : zstd_large;
}

EncoderPool::Handle EncoderPool::get(const EncoderSpec& spec) {
  if (stats_.lent >= limits_.max_lent) {
    ++stats_.refused;
    return Handle(nullptr, GiveBack{this});
  }
  const auto kind = kind_of(spec);
  std::unique_ptr<Encoder> encoder;
  if (!idle_[kind].empty()) {
    encoder = std::move(idle_[kind].back());
    idle_[kind].pop_back();
    --stats_.kept;
    stats_.kept_bytes -= encoder->kept_bytes_;
    ++stats_.reused;
  } else {
    encoder = spec.coding == Coding::gzip ? make_gzip_encoder(kind == gzip_events) : make_zstd_encoder();
    if (encoder) ++stats_.made;
  }
  if (!encoder || !encoder->begin(spec)) {
    ++stats_.refused;
    return Handle(nullptr, GiveBack{this});
  }
  encoder->kind_ = kind;
  ++stats_.lent;
  return Handle(encoder.release(), GiveBack{this});
}

void EncoderPool::take_back(Encoder* encoder) {
  std::unique_ptr<Encoder> owned(encoder);
  --stats_.lent;
  owned->kept_bytes_ = owned->memory();
  if (stats_.kept_bytes + owned->kept_bytes_ > limits_.max_kept) return;
  ++stats_.kept;
  stats_.kept_bytes += owned->kept_bytes_;
  idle_[owned->kind_].push_back(std::move(owned));
}

}  // namespace brink::filter
