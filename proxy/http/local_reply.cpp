#include "proxy/http/local_reply.hpp"

#include <cstdint>

namespace brink::http {
namespace {

// Length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none (RFC 3629 section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const std::uint8_t second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return size;
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<std::uint8_t>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i++];
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
      ++i;
    } else if (c < 0x80) {
      out += text[i++];
    } else if (const std::size_t size = utf8_length(text.substr(i)); size > 0) {
      out += text.substr(i, size);
      i += size;
    } else {
      out += "\xef\xbf\xbd";
      ++i;
    }
  }
}

LocalReply error_reply(ErrorKind kind, std::string_view detail) {
  const ErrorInfo& error = info(kind);
  LocalReply reply;
  reply.status = error.status;
  reply.headers.emplace_back("content-type", "application/json");
  // x-should-retry is how the OpenAI SDKs are told, over what they make of the status.
  if (error.status == 503) {
    reply.headers.emplace_back("retry-after", "1");
    reply.headers.emplace_back("x-should-retry", "true");
  } else if (kind == ErrorKind::deadline_exceeded) {
    reply.headers.emplace_back("x-should-retry", "false");
  }
  std::string& body = reply.body;
  body = R"({"error":{"message":")";
  append_json_escaped(body, error.text);
  if (!detail.empty()) {
    body += ": ";
    append_json_escaped(body, detail);
  }
  body += R"(","type":")";
  body += error.type;
  body += R"(","param":null,"code":")";
  body += error.code;
  body += "\"}}\n";
  return reply;
}

}  // namespace brink::http
