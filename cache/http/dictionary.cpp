#include "cache/http/dictionary.hpp"

#include <algorithm>

namespace brink::cache::http {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_lower(lower(c)); }

// The parser of section 4.2; each step says whether the text still fits the grammar.
class Parser {
 public:
  explicit Parser(std::string_view text) : left_(text) {}

  bool dictionary(std::vector<DictionaryMember>& members) {
    skip(" ");
    while (!left_.empty()) {
      DictionaryMember member;
      if (!key(member.name)) return false;
      if (take('=') ? !member_value(member) : !parameters()) return false;
      store(std::move(member), members);
      skip(" \t");
      if (left_.empty()) return true;
      if (!take(',')) return false;
      skip(" \t");
      if (left_.empty()) return false;  // a comma at the end
    }
    return true;
  }

 private:
  using Kind = DictionaryMember::Kind;

  char front() const { return left_.empty() ? '\0' : left_.front(); }
  void skip(std::string_view characters) {
    left_.remove_prefix(std::min(left_.find_first_not_of(characters), left_.size()));
  }
  bool take(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  static void store(DictionaryMember member, std::vector<DictionaryMember>& members) {
    const auto same =
        std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.name == member.name; });
    if (same == members.end())
      members.push_back(std::move(member));
    else
      *same = std::move(member);
  }

  bool key(std::string& name) {
    if (!is_lower(front()) && front() != '*') return false;
    while (is_lower(front()) || is_digit(front()) ||
           (front() != '\0' && std::string_view("_-.*").find(front()) != std::string_view::npos)) {
      name += front();
      left_.remove_prefix(1);
    }
    return true;
  }

  bool member_value(DictionaryMember& member) {
    if (front() != '(') return bare_item(member) && parameters();
    member.kind = Kind::other;
    take('(');
    while (true) {
      skip(" ");
      if (take(')')) return parameters();
      DictionaryMember item;
      if (!bare_item(item) || !parameters()) return false;
      if (front() != ' ' && front() != ')') return false;
    }
  }

  bool parameters() {
    while (take(';')) {
      skip(" ");
      std::string name;
      DictionaryMember value;
      if (!key(name) || (take('=') && !bare_item(value))) return false;
    }
    return true;
  }

  bool bare_item(DictionaryMember& item) {
    if (front() == '-' || is_digit(front())) return number(item);
    if (front() == '"') return string(item);
    if (front() == '?') return boolean(item);
    item.kind = Kind::other;
    if (front() == '*' || is_letter(front())) return token();
    if (front() == ':') return byte_sequence();
    if (front() == '@') {
      take('@');
      return number(item) && item.kind == Kind::integer && (item.kind = Kind::other, true);
    }
    return front() == '%' && display_string();
  }

  bool number(DictionaryMember& item) {
    item.kind = Kind::integer;
    if (take('-')) item.text = '-';
    std::size_t digits = 0, fraction = 0;
    bool decimal = false;
    for (; is_digit(front()) || (front() == '.' && !decimal); left_.remove_prefix(1)) {
      if (front() == '.') {
        if (digits == 0 || digits > 12) return false;
        decimal = true;
      } else {
        ++(decimal ? fraction : digits);
      }
      item.text += front();
      if (digits > 15 || fraction > 3) return false;
    }
    if (decimal) item.kind = Kind::other;
    return digits > 0 && decimal == (fraction > 0);
  }

  bool string(DictionaryMember& item) {
    item.kind = Kind::string;
    take('"');
    while (!left_.empty()) {
      char c = front();
      left_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '\\') {
        c = front();
        if (c != '"' && c != '\\') return false;
        left_.remove_prefix(1);
      } else if (c < 0x20 || c > 0x7e) {
        return false;
      }
      item.text += c;
    }
    return false;
  }

  bool boolean(DictionaryMember& item) {
    take('?');
    item.kind = front() == '1' ? Kind::yes : Kind::no;
    return take('1') || take('0');
  }

  bool token() {
    left_.remove_prefix(1);
    while (!left_.empty() && (is_token_char(front()) || front() == ':' || front() == '/')) left_.remove_prefix(1);
    return true;
  }

  bool byte_sequence() {
    take(':');
    const std::size_t end = left_.find(':');
    if (end == std::string_view::npos) return false;
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '='; });
  }

  bool display_string() {
    take('%');
    if (!take('"')) return false;
    const std::size_t end = left_.find('"');
    if (end == std::string_view::npos) return false;
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
  }

  std::string_view left_;
};

}  // namespace

std::optional<std::vector<DictionaryMember>> parse_dictionary(Fields fields, std::string_view name) {
  // Lines are joined first (section 4.2): a member may not be split over two of them, but each may hold several.
  std::string joined;
  for (const Field& field : fields) {
    if (!same_text(field.name, name)) continue;
    const std::string_view value = trim(field.value);
    if (value.empty()) continue;
    if (!joined.empty()) joined += ", ";
    joined += value;
  }
  std::vector<DictionaryMember> members;
  if (!Parser(joined).dictionary(members)) return std::nullopt;
  return members;
}

}  // namespace brink::cache::http
