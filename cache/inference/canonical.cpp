#include "cache/inference/canonical.hpp"

#include <algorithm>
#include <charconv>

#include "cache/inference/json_text.hpp"

namespace brink::cache::inference {
namespace {

constexpr std::size_t kept_capacity = 4 << 20;  // bytes of a buffer that outlive a request

// Putting objects in order moves what is inside of them, each time for objects in objects. Requests as they are written
// move a byte a few times; nested for the purpose, they would keep a thread busy.
constexpr std::size_t most_moves = 16;  // of a byte, on average
constexpr std::size_t free_moves = 1 << 20;

template <typename Buffer>
void recycle(Buffer& buffer) {
  buffer.clear();
  if (buffer.capacity() * sizeof(buffer[0]) > kept_capacity) buffer.shrink_to_fit();
}

constexpr std::string_view one_letter_controls = "\b\f\n\r\t";

void append_escaped(std::string& out, std::uint32_t code_point) {
  const auto byte = static_cast<char>(code_point);
  if (code_point >= 0x20 && byte != '"' && byte != '\\') return append_utf8(out, code_point);
  out.push_back('\\');
  const std::size_t control = one_letter_controls.find(byte);
  if (code_point >= 0x20) {
    out.push_back(byte);
  } else if (control != std::string_view::npos) {
    out.push_back("bfnrt"[control]);
  } else {
    out.append("u00");
    out.push_back("0123456789abcdef"[code_point >> 4]);
    out.push_back("0123456789abcdef"[code_point & 15]);
  }
}

bool is_canonical_escape(char letter) {
  return letter == 'n' || letter == '"' || letter == '\\' || letter == 't' || letter == 'r' || letter == 'b' ||
         letter == 'f';
}

// The power of ten after `e`. False: out of any sensible range.
bool read_exponent(std::string_view text, long& exponent) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  return error == std::errc{} && exponent >= -1'000'000 && exponent <= 1'000'000;
}

// Of a number by the grammar: whether it has one spelling only, as most have. Digits alone, not ending with 0.
bool is_canonical_number(const char* begin, const char* end) {
  if (end[-1] == '0') return false;
  for (; begin != end; ++begin) {
    if (*begin > '9' || *begin == '.' || *begin == '+') return false;
  }
  return true;
}

// `text` is a number by the grammar.
bool append_number(std::string& out, std::string_view text) {
  long exponent = 0;
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos && !read_exponent(text.substr(e + 1), exponent)) return false;
  text = text.substr(0, e);
  const std::size_t begin = out.size();
  if (text.front() == '-') {
    out.push_back('-');
    text.remove_prefix(1);
  }
  const std::size_t digits = out.size();
  const std::size_t point = text.find('.');
  out.append(text.substr(0, point));
  if (point != std::string_view::npos) {
    out.append(text.substr(point + 1));
    exponent -= static_cast<long>(text.size() - point - 1);
  }
  const std::size_t last = out.find_last_not_of('0');
  if (last == std::string::npos || last < digits) {
    out.resize(begin);
    out.push_back('0');
    return true;
  }
  exponent += static_cast<long>(out.size() - last - 1);
  out.resize(last + 1);
  out.erase(digits, out.find_first_not_of('0', digits) - digits);
  if (exponent != 0) out.append("e").append(std::to_string(exponent));
  return true;
}

}  // namespace

const char* Canonical::read(std::string_view text) {
  at_ = text.data();
  end_ = at_ + text.size();
  why_ = nullptr;
  depth_ = 0;
  recycle(out_);
  recycle(spare_);
  recycle(places_);
  recycle(members_);
  may_move_ = text.size() * most_moves + free_moves;
  out_.reserve(text.size() + text.size() / 8);
  space();
  if (at_ == end_ || *at_ != '{') return "the body is no JSON object";
  ++at_;
  ++depth_;
  if (!members(0) || !sort(0)) return why_;
  space();
  if (at_ != end_) return "the body has more than one JSON value";
  const std::string_view all = out_;
  for (const Place& place : places_)
    members_.push_back({name(place), all.substr(place.value, place.end - place.value)});
  return nullptr;
}

bool Canonical::fail(const char* why) {
  why_ = why;
  return false;
}

void Canonical::space() { at_ = skip_space(at_, end_); }

bool Canonical::take(char c) {
  space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

std::string_view Canonical::name(const Place& place) const {
  return std::string_view(out_).substr(place.begin + 1, place.value - place.begin - 3);
}

bool Canonical::value() {
  space();
  if (at_ == end_) return fail("the JSON is cut off");
  switch (*at_) {
    case '{':
      return object();
    case '[':
      return array();
    case '"':
      return string();
    case 't':
    case 'f':
    case 'n':
      return literal();
    default:
      return number();
  }
}

bool Canonical::object() {
  if (++depth_ > max_depth) return fail("the JSON is nested too deep");
  ++at_;
  out_.push_back('{');
  const std::size_t first = places_.size();
  if (!members(first) || !sort(first)) return false;
  places_.resize(first);
  out_.push_back('}');
  --depth_;
  return true;
}

// The members up to the closing brace, into out_ with commas between them and into places_ from `first` on.
bool Canonical::members(std::size_t first) {
  if (take('}')) return true;
  do {
    if (places_.size() != first) out_.push_back(',');
    Place place{out_.size(), 0, 0};
    space();
    if (at_ == end_ || *at_ != '"') return fail("a member of the JSON has no name");
    if (!string()) return false;
    if (!take(':')) return fail("a member of the JSON has no value");
    out_.push_back(':');
    place.value = out_.size();
    if (!value()) return false;
    place.end = out_.size();
    places_.push_back(place);
  } while (take(','));
  return take('}') || fail("an object of the JSON is not closed");
}

bool Canonical::sort(std::size_t first) {
  const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto before = [this](const Place& a, const Place& b) { return name(a) < name(b); };
  const auto not_before = [this](const Place& a, const Place& b) { return name(a) >= name(b); };
  if (std::adjacent_find(begin, places_.end(), not_before) == places_.end()) return true;
  std::sort(begin, places_.end(), before);
  if (std::adjacent_find(begin, places_.end(), not_before) != places_.end())
    return fail("the JSON names a member twice");
  return depth_ == 1 || reorder(first);
}

// The outermost object stays as it is: members() are sorted, and nobody reads it as one text.
bool Canonical::reorder(std::size_t first) {
  const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first);
  std::size_t start = out_.size();
  for (auto place = begin; place != places_.end(); ++place) start = std::min(start, place->begin);
  if (out_.size() - start > may_move_) return fail("the JSON is too costly to put in order");
  may_move_ -= out_.size() - start;
  spare_.clear();
  for (auto place = begin; place != places_.end(); ++place) {
    if (place != begin) spare_.push_back(',');
    spare_.append(out_, place->begin, place->end - place->begin);
  }
  out_.replace(start, out_.size() - start, spare_);
  return true;
}

bool Canonical::array() {
  if (++depth_ > max_depth) return fail("the JSON is nested too deep");
  ++at_;
  out_.push_back('[');
  bool more = !take(']');
  while (more) {
    if (!value()) return false;
    more = take(',');
    if (more)
      out_.push_back(',');
    else if (!take(']'))
      return fail("an array of the JSON is not closed");
  }
  out_.push_back(']');
  --depth_;
  return true;
}

bool Canonical::string() {
  const char* run = at_++;
  while ((at_ = skip_plain(at_, end_)) != end_ && *at_ != '"') {
    if (*at_ == '\\') {
      if (at_ + 1 != end_ && is_canonical_escape(at_[1])) {
        at_ += 2;
        continue;
      }
      out_.append(run, at_);
      std::uint32_t code_point = 0;
      run = at_ = read_escape(at_ + 1, end_, code_point);
      if (at_ == nullptr) return fail("a string of the JSON has an escape that is none");
      append_escaped(out_, code_point);
    } else {
      const bool control = static_cast<unsigned char>(*at_) < 0x20;
      at_ = skip_utf8(at_, end_);
      if (at_ == nullptr)
        return fail(control ? "a string of the JSON has a control character" : "the JSON is not UTF-8");
    }
  }
  if (at_ == end_) return fail("the JSON is cut off");
  ++at_;
  out_.append(run, at_);
  return true;
}

bool Canonical::number() {
  const char* const begin = at_;
  at_ = skip_number(begin, end_);
  if (at_ == nullptr) return fail("the JSON has a value that is none");
  if (is_canonical_number(begin, at_)) {
    out_.append(begin, at_);
    return true;
  }
  return append_number(out_, {begin, static_cast<std::size_t>(at_ - begin)}) ||
         fail("a number of the JSON is out of range");
}

bool Canonical::literal() {
  const char* const begin = at_;
  at_ = skip_literal(begin, end_);
  if (at_ == nullptr) return fail("the JSON has a value that is none");
  out_.append(begin, at_);
  return true;
}

}  // namespace brink::cache::inference
