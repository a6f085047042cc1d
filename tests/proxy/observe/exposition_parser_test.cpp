#include "tests/proxy/observe/exposition_parser.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace brink::observe::testing {
namespace {

[[noreturn]] void refuse(const char* why, std::string_view line) {
  throw std::runtime_error(std::string(why) + ": " + std::string(line));
}

bool is_name(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == name.npos;
}

double number(std::string_view text, std::string_view line) {
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse("not a number", line);
  return value;
}

// Takes `key="value"` from the front, returns the key and what is between the quotes.
std::pair<std::string, std::string> take_label(std::string_view& rest, std::string_view line) {
  const auto equals = rest.find("=\"");
  if (equals == rest.npos || !is_name(rest.substr(0, equals))) refuse("bad label", line);
  std::pair<std::string, std::string> label{rest.substr(0, equals), ""};
  rest.remove_prefix(equals + 2);
  while (!rest.empty() && rest[0] != '"') {
    const std::size_t size = rest[0] == '\\' ? 2 : 1;
    if (size == 2 && (rest.size() < 2 || std::string_view("\\\"n").find(rest[1]) == std::string_view::npos)) {
      refuse("bad escape", line);
    }
    label.second += rest.substr(0, size);
    rest.remove_prefix(size);
  }
  if (rest.empty()) refuse("label without end", line);
  rest.remove_prefix(1);
  return label;
}

}  // namespace

Exposition::Exposition(std::string_view text) {
  if (text.empty() || text.back() != '\n') throw std::runtime_error("the text does not end with a line end");
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.starts_with("# ")) {
      comment(line);
    } else {
      sample(line);
    }
  }
  check_histograms();
}

void Exposition::comment(std::string_view line) {
  const bool help = line.starts_with("# HELP ");
  if (!help && !line.starts_with("# TYPE ")) refuse("neither HELP nor TYPE", line);
  const auto rest = line.substr(7);
  const auto space = rest.find(' ');
  if (space == rest.npos || !is_name(rest.substr(0, space)) || space + 1 == rest.size()) refuse("incomplete", line);
  const std::string name(rest.substr(0, space));
  if (help) {
    if (types_.contains(name)) refuse("metric in two places", line);
    helped_ = name;
    return;
  }
  if (helped_ != name) refuse("TYPE without HELP before it", line);
  const std::string type(rest.substr(space + 1));
  if (type != "counter" && type != "gauge" && type != "histogram") refuse("unknown type", line);
  if (type == "counter" && !name.ends_with("_total")) refuse("a counter not called _total", line);
  types_[name] = type;
  current_ = name;
}

void Exposition::sample(std::string_view line) {
  const auto name_end = line.find_first_of("{ ");
  if (name_end == line.npos || !is_name(line.substr(0, name_end))) refuse("bad name", line);
  const std::string name(line.substr(0, name_end));
  std::string_view rest = line.substr(name_end);
  std::string others, bound;
  if (rest[0] == '{') {
    do {
      rest.remove_prefix(1);
      const auto [key, value] = take_label(rest, line);
      if (rest.empty() || (rest[0] != ',' && rest[0] != '}')) refuse("bad separator", line);
      (key == "le" ? bound : others) += key == "le" ? value : key + "=" + value + ",";
    } while (rest[0] == ',');
    rest.remove_prefix(1);
  }
  if (rest.empty() || rest[0] != ' ') refuse("no value", line);
  const double value = number(rest.substr(1), line);
  if (value < 0) refuse("negative", line);
  const bool histogram = !current_.empty() && types_[current_] == "histogram";
  const std::string suffix = name.starts_with(current_) ? name.substr(current_.size()) : "?";
  if (histogram ? suffix != "_bucket" && suffix != "_sum" && suffix != "_count" : !suffix.empty()) {
    refuse("not under its own metric", line);
  }
  if (!series_.emplace(line.substr(0, line.size() - rest.size()), value).second) refuse("series twice", line);
  if (suffix == "_bucket") buckets_[current_ + "{" + others][number(bound, line)] = value;
  // The count stands beside the buckets at a bound that none has.
  if (suffix == "_count") buckets_[current_ + "{" + others][-1] = value;
}

void Exposition::check_histograms() const {
  for (const auto& [name, buckets] : buckets_) {
    double before = 0;
    if (!buckets.contains(-1) || !std::isinf(buckets.rbegin()->first)) refuse("incomplete histogram", name);
    for (const auto& [bound, count] : buckets) {
      if (bound < 0) continue;
      if (count < before) refuse("buckets shrink", name);
      before = count;
    }
    if (before != buckets.at(-1)) refuse("count differs from the +Inf bucket", name);
  }
}

double Exposition::value(const std::string& series) const {
  const auto found = series_.find(series);
  if (found == series_.end()) throw std::runtime_error("no series " + series);
  return found->second;
}

namespace {

TEST(ExpositionParser, RefusesWhatIsWrong) {
  const std::string head = "# HELP a_total Help.\n# TYPE a_total counter\n";
  EXPECT_NO_THROW(Exposition(head + "a_total{b=\"x\\\"\\\\\\n\"} 1\n"));
  EXPECT_THROW(Exposition("a_total 1\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "a_total 1"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "a_total 1\na_total 2\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "a_total{b=\"\\x\"} 1\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "a_total{b=\"x\"\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "a_total one\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + "b_total 1\n"), std::runtime_error);
  EXPECT_THROW(Exposition(head + head), std::runtime_error);
  EXPECT_THROW(Exposition("# TYPE a_total counter\na_total 1\n"), std::runtime_error);
  const std::string histogram = "# HELP h H.\n# TYPE h histogram\n";
  EXPECT_NO_THROW(Exposition(histogram + "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"));
  EXPECT_THROW(Exposition(histogram + "h_bucket{le=\"1\"} 1\nh_sum 3\nh_count 1\n"), std::runtime_error);
  EXPECT_THROW(Exposition(histogram + "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n"),
               std::runtime_error);
  EXPECT_THROW(Exposition(histogram + "h_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 1\n"), std::runtime_error);
}

}  // namespace
}  // namespace brink::observe::testing
