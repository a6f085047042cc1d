// Reads Prometheus text, exposition format 0.0.4, and refuses what a strict server may refuse: lines without their
// metric's HELP and TYPE before them, a metric in two places, a series twice, wrong names, escapes or numbers, and
// histograms whose buckets do not grow to +Inf or disagree with their count.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace brink::observe::testing {

class Exposition {
 public:
  explicit Exposition(std::string_view text);  // throws std::runtime_error with the line that is wrong

  // The value of a series as it is written, such as `brink_requests_total{route="a",class="2xx"}`. Throws if absent.
  double value(const std::string& series) const;
  bool has(const std::string& series) const { return series_.contains(series); }
  const std::map<std::string, std::string>& types() const { return types_; }

 private:
  void comment(std::string_view line);
  void sample(std::string_view line);
  void check_histograms() const;

  std::map<std::string, double> series_;
  std::map<std::string, std::string> types_;                 // metric → type
  std::map<std::string, std::map<double, double>> buckets_;  // histogram with its labels but le → bound → count
  std::string helped_, current_;
};

}  // namespace brink::observe::testing
