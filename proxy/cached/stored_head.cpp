#include "proxy/cached/stored_head.hpp"

#include "proxy/http/errors.hpp"

namespace brink::cached {

namespace {

constexpr http::Limits limits{128 * 1024, 512, 0};

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
  stored->head.framing = head.framing;
  stored->head.content_length = head.content_length;
  stored->head.has_content_length = head.has_content_length;
  return stored;
}

void StoredHead::set_length(std::uint64_t length) {
  const bool bodiless = head.status == 204 || head.status == 304;
  head.framing = bodiless ? http::Framing::none : http::Framing::length;
  head.has_content_length = !bodiless;
  head.content_length = length;
}

bool attach_head(cache::Entry& entry) {
  std::unique_ptr<StoredHead> head = StoredHead::make(entry.status, entry.head);
  if (head == nullptr) return false;
  head->set_length(entry.body.size());
  entry.attachment = std::move(head);
  return true;
}

}  // namespace brink::cached
