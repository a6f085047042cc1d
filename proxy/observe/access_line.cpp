#include "proxy/observe/access_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "proxy/http/local_reply.hpp"

namespace brink::observe {
namespace {

constexpr std::size_t max_free_text = 512;  // bytes kept of what has no limit of its own
constexpr std::size_t fixed_part = 1024;    // keys, punctuation, numbers and fixed words of a line
constexpr std::size_t escaped_byte = 6;     // \u001f

constexpr auto plain = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) table[c] = c != '"' && c != '\\';
  return table;
}();

// Writes JSON at a place that is known to be large enough.
class Line {
 public:
  Line(char* out, std::string& scratch) : out_(out), scratch_(scratch) {}
  char* end() const { return out_; }

  void raw(std::string_view text) {
    if (text.empty()) return;  // its data() may be null, which memcpy does not take
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
  }
  void escaped(std::string_view text) {
    const auto dirty =
        std::find_if(text.begin(), text.end(), [](char c) { return !plain[static_cast<unsigned char>(c)]; });
    const auto clean = static_cast<std::size_t>(dirty - text.begin());
    raw(text.substr(0, clean));
    if (clean == text.size()) return;
    scratch_.clear();
    http::append_json_escaped(scratch_, text.substr(clean));
    raw(scratch_);
  }
  // `key` with its comma, quotes and colon, so that it is one copy of known size.
  void text(std::string_view key, std::string_view value) {
    raw(key);
    if (value.empty()) return raw("null");
    raw("\"");
    escaped(value);
    raw("\"");
  }
  void number(std::string_view key, std::uint64_t value) {
    raw(key);
    digits(value);
  }
  void flag(std::string_view key, bool value) {
    raw(key);
    raw(value ? std::string_view("true") : std::string_view("false"));
  }
  // Milliseconds with three decimals.
  void millis(std::string_view key, router::Time::duration value) {
    const auto us = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(value).count());
    raw(key);
    digits(static_cast<std::uint64_t>(us / 1000));
    const auto rest = static_cast<int>(us % 1000);
    *out_++ = '.';
    *out_++ = static_cast<char>('0' + rest / 100);
    *out_++ = static_cast<char>('0' + rest / 10 % 10);
    *out_++ = static_cast<char>('0' + rest % 10);
  }
  void millis_or_null(std::string_view key, router::Time from, router::Time to) {
    if (from != router::Time{} && to != router::Time{}) return millis(key, to - from);
    raw(key);
    raw("null");
  }

 private:
  void digits(std::uint64_t value) { out_ = std::to_chars(out_, out_ + 20, value).ptr; }

  char* out_;
  std::string& scratch_;
};

std::string_view shortened(std::string_view text) { return text.substr(0, max_free_text); }

std::string_view user_agent(const http::RequestHead& head) {
  const http::Field* field = head.find(http::FieldId::user_agent);
  return field == nullptr ? std::string_view{} : shortened(field->value);
}

// The query as sent, but for the values of secret parameters.
void write_query(Line& line, std::string_view query) {
  while (!query.empty()) {
    const std::size_t size = std::min(query.find_first_of("&;", 1), query.size());
    const std::string_view parameter = query.substr(0, size);  // with the '?', '&' or ';' before it
    query.remove_prefix(size);
    const std::size_t equals = parameter.find('=');
    if (equals != std::string_view::npos && is_secret_parameter(parameter.substr(1, equals - 1))) {
      line.escaped(parameter.substr(0, equals + 1));
      line.raw("***");
    } else {
      line.escaped(parameter);
    }
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool is_secret_parameter(std::string_view name) {
  // Only the end of a name is looked at, so that this many decoded bytes suffice.
  std::array<char, 16> tail{};
  std::size_t length = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    if (c == '%' && i + 2 < name.size() && hex_digit(name[i + 1]) >= 0 && hex_digit(name[i + 2]) >= 0) {
      c = static_cast<char>(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2]));
      i += 2;
    }
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    if (length == tail.size()) {
      std::move(tail.begin() + 1, tail.end(), tail.begin());
      --length;
    }
    tail[length++] = c;
  }
  const std::string_view end(tail.data(), length);
  static constexpr auto endings = std::to_array<std::string_view>(
      {"key", "token", "secret", "password", "passwd", "signature", "credential", "authorization", "auth", "jwt"});
  return end == "sig" ||
         std::any_of(endings.begin(), endings.end(), [&](auto ending) { return end.ends_with(ending); });
}

std::size_t access_line_bound(const http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head;
  std::size_t text = exchange.request_id.size() + exchange.client.size() + head.method_text.size() + head.host.size() +
                     head.path.size() + head.query.size() + exchange.model.size() + 2 * max_free_text;
  // A mask may be longer than its value, by less than the plain name before it leaves of its share for escapes.
  if (exchange.route != nullptr) text += exchange.route->name.size();
  if (exchange.cluster != nullptr) text += exchange.cluster->name.size();
  if (exchange.endpoint != nullptr) text += exchange.endpoint->name.size();
  if (exchange.fallback != nullptr) text += exchange.fallback->name.size();
  return fixed_part + escaped_byte * text;
}

char* write_access_line(char* out, const http::Exchange& exchange, std::string_view time, router::Time now,
                        std::string& scratch) {
  const http::RequestHead& head = exchange.head;
  const std::string_view trace = exchange.traceparent;
  Line line(out, scratch);
  line.raw(R"({"time":")");
  line.raw(time);
  line.text(R"(","request_id":)", exchange.request_id);
  line.text(R"(,"trace_id":)", trace.size() >= 35 ? trace.substr(3, 32) : std::string_view{});
  line.text(R"(,"client":)", exchange.client);
  line.text(R"(,"method":)", head.method_text);
  line.text(R"(,"host":)", head.host);
  line.raw(R"(,"target":")");
  line.escaped(head.path);
  write_query(line, head.query);
  line.raw(R"(","protocol":"HTTP/1.)");
  line.raw(head.minor_version == 0 ? "0" : "1");
  line.text(R"(","user_agent":)", user_agent(head));
  line.text(R"(,"route":)", exchange.route == nullptr ? std::string_view{} : exchange.route->name);
  line.text(R"(,"cluster":)", exchange.cluster == nullptr ? std::string_view{} : exchange.cluster->name);
  line.text(R"(,"endpoint":)", exchange.endpoint == nullptr ? std::string_view{} : exchange.endpoint->name);
  line.text(R"(,"fallback":)", exchange.fallback == nullptr ? std::string_view{} : exchange.fallback->name);
  line.text(R"(,"model":)", exchange.model);
  line.text(R"(,"cache":)",
            exchange.cache == http::CacheResult::none ? std::string_view{} : http::to_string(exchange.cache));
  line.number(R"(,"status":)", exchange.status);
  line.number(R"(,"bytes_in":)", exchange.bytes_in);
  line.number(R"(,"bytes_out":)", exchange.bytes_out);
  line.millis(R"(,"duration_ms":)", now - exchange.start);
  line.millis_or_null(R"(,"ttfb_ms":)", exchange.start, exchange.first_byte);
  line.millis_or_null(R"(,"upstream_ms":)", exchange.sent, exchange.first_byte);
  line.number(R"(,"attempts":)", exchange.attempts);
  line.flag(R"(,"reused":)", exchange.reused);
  line.flag(R"(,"tunnel":)", exchange.tunnel);
  line.text(R"(,"stop":)", http::to_string(exchange.stop));
  line.flag(R"(,"complete":)", exchange.complete);
  line.text(R"(,"error":)",
            exchange.error == http::ErrorKind::none ? std::string_view{} : http::info(exchange.error).code);
  line.text(R"(,"error_detail":)", shortened(exchange.error_detail));
  line.raw("}\n");
  return line.end();
}

}  // namespace brink::observe
