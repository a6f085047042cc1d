// Writes metrics as Prometheus text, exposition format 0.0.4: one header for each metric, then its lines. Knows nothing
// of which metrics exist. One thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace brink::observe {

class TextWriter {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Begins a metric: `name` goes without its `brink_`. REQUIRES: each name once, then all of its lines.
  void metric(std::string_view name, std::string_view type, std::string_view help);
  void line(Labels labels, std::uint64_t value, std::string_view suffix = {});
  void line(Labels labels, double value, std::string_view suffix = {});
  void bucket(Labels labels, std::string_view bound, std::uint64_t count);  // of a histogram; `bound` is its label le

  std::string take() { return std::move(text_); }

 private:
  void head(Labels labels, std::string_view suffix);
  char label_list(Labels labels);  // what has to stand before the next label
  void label(char separator, std::string_view key, std::string_view value);

  std::string text_;
  std::string name_;
};

// "0.05" for 50: a bucket bound in the base unit.
std::string seconds_text(std::uint64_t milliseconds);

}  // namespace brink::observe
