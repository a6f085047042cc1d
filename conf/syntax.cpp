#include "conf/syntax.hpp"
#include "conf/units.hpp"

#include <algorithm>
#include <array>

namespace brink::conf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Fields that belong to one connection or frame the message (RFC 9110 sections 7.6.1 and 8.6, RFC 9112 section 6):
// the proxy alone writes them, an edit could split one message into two.
constexpr std::array<std::string_view, 10> framing_fields{
    "connection", "content-length",    "expect",  "keep-alive",    "proxy-connection", "te",
    "trailer",    "transfer-encoding", "upgrade", "http2-settings"};

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

std::string check_name(std::string& text) {
  const bool fine = std::all_of(text.begin(), text.end(),
                                [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; });
  if (text.empty() || text.size() > 64 || !fine) {
    return "is no valid name; use 1 to 64 letters, digits, `.`, `_` or `-`";
  }
  return {};
}

std::string check_not_empty(std::string& text) { return text.empty() ? "must not be empty" : ""; }

std::string check_visible(std::string& text) {
  if (text.empty() || text.size() > 255 || !std::all_of(text.begin(), text.end(), is_visible)) {
    return "must be 1 to 255 visible ASCII characters without spaces";
  }
  return {};
}

std::string check_path(std::string& text) {
  if (!text.starts_with('/')) return "must start with `/`";
  if (text.find_first_of("?#") != std::string::npos) return "must be a path only, without `?` or `#`";
  if (!std::all_of(text.begin(), text.end(), is_visible)) {
    return "must hold visible ASCII characters only; write others percent-encoded";
  }
  return {};
}

std::string check_method(std::string& text) {
  if (!is_token(text)) return "is no HTTP method";
  if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
    return "is not upper case; methods are case-sensitive, write `GET`, not `get`";
  }
  if (text == "CONNECT") return "is for forward proxies; Brink refuses it";
  return {};
}

std::string check_model(std::string& text) {
  return text.empty() || text.size() > 256 ? "must be 1 to 256 bytes long" : "";
}

std::string check_header_name(std::string& text) {
  return is_token(text) ? "" : "is no valid header name; use letters, digits and `-`";
}

std::string check_edited_header_name(std::string& text) {
  if (std::string problem = check_header_name(text); !problem.empty()) return problem;
  const std::string name = lower(text);
  if (name == "host") return "is not edited as a header; set `rewrite.host`";
  if (std::find(framing_fields.begin(), framing_fields.end(), name) != framing_fields.end()) {
    return "frames the message or belongs to one connection; Brink writes it itself and no route may edit it";
  }
  return {};
}

std::string check_header_value(std::string& text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; })) {
    return "holds a line end or another control character";
  }
  const std::string_view blanks = " \t";
  if (!text.empty() &&
      (blanks.find(text.front()) != std::string_view::npos || blanks.find(text.back()) != std::string_view::npos)) {
    return "starts or ends with a blank, which no receiver keeps";
  }
  return {};
}

std::string check_log_file(std::string& text) {
  if (text.empty()) return "must not be empty; write `-` for standard output, `off`, or a path";
  if (std::any_of(text.begin(), text.end(), is_control)) return "is no path";
  return {};
}

std::string check_cpus(std::string& text) {
  constexpr std::int64_t most = 1023;  // as a cpu_set_t holds
  std::string_view rest = text;
  do {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last > most) return "is no list of CPUs; write it like `0-3,8`";
  } while (!rest.empty());
  return text.back() == ',' ? "is no list of CPUs; write it like `0-3,8`" : "";
}

}  // namespace brink::conf
