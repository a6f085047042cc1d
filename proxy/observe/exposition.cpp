#include "proxy/observe/exposition.hpp"

#include <array>
#include <charconv>

namespace brink::observe {
namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_escaped(std::string& out, std::string_view value, bool quotes) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
}

}  // namespace

void TextWriter::metric(std::string_view name, std::string_view type, std::string_view help) {
  name_.assign("brink_").append(name);
  text_.append("# HELP ").append(name_) += ' ';
  append_escaped(text_, help, false);
  text_.append("\n# TYPE ").append(name_).append(" ").append(type) += '\n';
}

void TextWriter::label(char separator, std::string_view key, std::string_view value) {
  text_ += separator;
  text_.append(key).append("=\"");
  append_escaped(text_, value, true);
  text_ += '"';
}

char TextWriter::label_list(Labels labels) {
  char separator = '{';
  for (const auto& [key, value] : labels) {
    label(separator, key, value);
    separator = ',';
  }
  return separator;
}

void TextWriter::head(Labels labels, std::string_view suffix) {
  text_.append(name_).append(suffix);
  text_ += label_list(labels) == '{' ? " " : "} ";
}

void TextWriter::bucket(Labels labels, std::string_view bound, std::uint64_t count) {
  text_.append(name_).append("_bucket");
  label(label_list(labels), "le", bound);
  text_ += "} ";
  append_number(text_, count);
  text_ += '\n';
}

void TextWriter::line(Labels labels, std::uint64_t value, std::string_view suffix) {
  head(labels, suffix);
  append_number(text_, value);
  text_ += '\n';
}

void TextWriter::line(Labels labels, double value, std::string_view suffix) {
  head(labels, suffix);
  append_number(text_, value);
  text_ += '\n';
}

std::string seconds_text(std::uint64_t milliseconds) {
  std::string text;
  append_number(text, static_cast<double>(milliseconds) / 1e3);
  return text;
}

}  // namespace brink::observe
