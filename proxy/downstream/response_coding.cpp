#include "proxy/downstream/response_coding.hpp"

#include "proxy/http/rules.hpp"

namespace brink::downstream {

using filter::Coding;

void ResponseCoding::reset() {
  encoder_.reset();
  decision_ = {};
  takes_ready_ = false;
}

void ResponseCoding::begin(const conf::CompressConfig& config, const http::Exchange& exchange,
                           const http::ResponseHead& head, filter::EncoderPool& pool, std::uint64_t ready_zstd) {
  reset();
  options_.encodings.clear();
  for (const conf::Encoding encoding : config.encodings) {
    options_.encodings.push_back(encoding == conf::Encoding::zstd ? Coding::zstd : Coding::gzip);
  }
  options_.level = static_cast<int>(config.level);
  options_.min_size = config.min_size;
  filter::RequestFacts request;
  for (const http::Field& field : exchange.head.fields) request.note(field.name, field.value);
  filter::ResponseFacts response;
  response.status = head.status;
  if (head.has_content_length) response.length = head.content_length;
  for (const http::Field& field : head.fields) response.note(field.name, field.value);
  decision_ = filter::decide(options_, request, response);
  if (decision_.coding == Coding::identity) return;
  takes_ready_ = ready_zstd > 0 && decision_.coding == Coding::zstd;
  if (takes_ready_ || exchange.head.method == boost::beast::http::verb::head) return;
  encoder_ = pool.get(decision_.spec);
  if (encoder_ != nullptr) return;
  decision_.coding = Coding::identity;  // no memory for it: better as it is
  decision_.weak_etag = false;
}

bool ResponseCoding::drops(const http::Field& field) const {
  return filter::edit_of(decision_, field.name) != filter::FieldEdit::keep;
}

void ResponseCoding::append_fields(std::string& lines, const http::ResponseHead& head) const {
  for (const http::Field& field : head.fields) {
    if (filter::edit_of(decision_, field.name) != filter::FieldEdit::weaken) continue;
    lines.append(field.name).append(": ").append(filter::weaken(field.value)).append("\r\n");
  }
  filter::append_fields(lines, decision_);
}

bool ResponseCoding::encode(std::string_view piece, bool last, std::string& out) {
  return encoder_->encode(piece, decision_.flush && !piece.empty(), last, out);
}

}  // namespace brink::downstream
