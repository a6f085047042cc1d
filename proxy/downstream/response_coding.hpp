// The content coding of one response: whether there is one, what it does to the head, and the encoder that the body
// goes through. Part of a session's memory for a request, and reused with it. One thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conf/config.hpp"
#include "proxy/filter/compression.hpp"
#include "proxy/filter/encoder_pool.hpp"
#include "proxy/http/exchange.hpp"
#include "proxy/http/forward.hpp"

namespace brink::downstream {

class ResponseCoding final : public http::FieldFilter {
 public:
  void reset();
  // Decides. `ready_zstd`: bytes of the body as a zstd frame that the sender has; 0: none.
  void begin(const conf::CompressConfig& config, const http::Exchange& exchange, const http::ResponseHead& head,
             filter::EncoderPool& pool, std::uint64_t ready_zstd);

  bool encodes() const { return encoder_ != nullptr; }  // the body goes through encode()
  bool takes_ready() const { return takes_ready_; }
  bool changes_length() const { return decision_.coding != filter::Coding::identity; }  // true of HEAD, too
  bool edits() const { return changes_length() || decision_.add_vary || decision_.weak_etag; }

  bool drops(const http::Field& field) const override;
  void append_fields(std::string& lines, const http::ResponseHead& head) const;
  // Appends what a piece of the body becomes. False: it cannot go on, error() says why.
  bool encode(std::string_view piece, bool last, std::string& out);
  const char* error() const { return encoder_->error(); }

 private:
  filter::CompressOptions options_;
  filter::Decision decision_;
  filter::EncoderPool::Handle encoder_;
  bool takes_ready_ = false;
};

}  // namespace brink::downstream
