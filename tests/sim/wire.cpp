#include "tests/sim/wire.hpp"

#include <array>
#include <charconv>
#include <ctime>

namespace brink::sim {
namespace {

// IMF-fixdate, RFC 9110 section 5.6.7.
std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

void field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string chunk(std::string_view data) {
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), data.size(), 16).ptr;
  std::string text(size.data(), end);
  text.append("\r\n").append(data).append("\r\n");
  return text;
}

std::string answer_head(std::string_view node, const AnswerShape& shape, const Reply& reply,
                        std::optional<std::size_t> content_length) {
  const std::string_view reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string(reason) + "\r\n";
  field(head, "date", date_now());
  field(head, "content-type", reply.content_type);
  field(head, "x-sim-node", node);
  if (!shape.request_id.empty()) field(head, "x-request-id", shape.request_id);
  for (const auto& [name, value] : reply.headers) field(head, name, value);
  if (content_length) {
    field(head, "content-length", std::to_string(*content_length));
  } else if (shape.chunked) {
    field(head, "transfer-encoding", "chunked");
  }
  if (!shape.keep_alive) field(head, "connection", "close");
  return head.append("\r\n");
}

}  // namespace brink::sim
