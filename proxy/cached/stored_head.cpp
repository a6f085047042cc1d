#include "proxy/cached/stored_head.hpp"

#include <algorithm>

#include "proxy/filter/compress_whole.hpp"
#include "proxy/filter/compression.hpp"
#include "proxy/http/errors.hpp"

namespace brink::cached {

namespace {

constexpr http::Limits limits{128 * 1024, 512, 0};
constexpr std::size_t max_compressed_at_once = std::size_t{512} * 1024;  // about 3 ms

std::unique_ptr<StoredHead> parse(std::string text) {
  auto stored = std::make_unique<StoredHead>();
  stored->text = std::move(text);
  const http::ParseResult result = http::parse_response(stored->text, limits, false, stored->head);
  if (result.error != http::HeadError::ok || result.size != stored->text.size()) return nullptr;
  return stored;
}

}  // namespace

std::unique_ptr<StoredHead> StoredHead::make(unsigned status, std::string_view lines) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(http::reason_phrase(status)).append("\r\n").append(lines).append("\r\n");
  return parse(std::move(text));
}

std::unique_ptr<StoredHead> StoredHead::copy(const http::ResponseHead& head) {
  std::unique_ptr<StoredHead> stored = parse(std::string(head.raw));
  if (stored == nullptr) return nullptr;
  // How the body ends depends on the request, too, which a second parse does not know.
  stored->set_framing(head);
  return stored;
}

void StoredHead::set_framing(const http::ResponseHead& as) {
  head.framing = as.framing;
  head.content_length = as.content_length;
  head.has_content_length = as.has_content_length;
}

void StoredHead::set_length(std::uint64_t length) {
  const bool bodiless = head.status == 204 || head.status == 304;
  head.framing = bodiless ? http::Framing::none : http::Framing::length;
  head.has_content_length = !bodiless;
  head.content_length = length;
}

void add_zstd(cache::Entry& entry, const conf::RouteConfig& route) {
  if (!route.compress || entry.status != 200 || entry.body.size() > max_compressed_at_once) return;
  const auto& wanted = route.compress->encodings;
  if (std::find(wanted.begin(), wanted.end(), conf::Encoding::zstd) == wanted.end()) return;
  filter::CompressOptions options;
  options.level = static_cast<int>(route.compress->level);
  options.min_size = route.compress->min_size;
  filter::RequestFacts request;
  request.accept.add("zstd");
  filter::ResponseFacts response;
  response.status = entry.status;
  response.length = entry.body.size();
  for (const cache::Field& field : entry.fields) response.note(field.name, field.value);
  if (filter::decide(options, request, response).coding != filter::Coding::zstd) return;
  entry.zstd = filter::compress_whole(entry.body, options.level);
}

bool attach_head(cache::Entry& entry) {
  std::unique_ptr<StoredHead> head = StoredHead::make(entry.status, entry.head);
  if (head == nullptr) return false;
  head->set_length(entry.body.size());
  entry.attachment = std::move(head);
  return true;
}

}  // namespace brink::cached
