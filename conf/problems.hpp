// Collects what is wrong with the files, so that one run reports every mistake. Also the two helpers every message
// needs: quoting what the user wrote, and proposing the name that was probably meant. One collector a load; control
// thread only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conf/load.hpp"

namespace brink::conf {

class Problems {
 public:
  static constexpr std::size_t max_problems = 1000;  // past it one last problem says that there are more

  // Files report in the order of their first mention.
  void add_file(const std::string& file);
  void add(Location where, std::string message);
  std::size_t size() const { return problems_.size(); }
  bool empty() const { return problems_.empty(); }
  std::vector<Problem> take();  // sorted by file, line, column; the collector is empty afterwards

 private:
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t> file_order_;
  bool full_ = false;
};

// `text` between backquotes, cut at 80 bytes, control bytes shown as '?', so that a message stays one readable line.
std::string ticked(std::string_view text);

// The candidate with the least edit distance to `name`, or empty when none is near enough to be a typing mistake.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates);

// "; did you mean `x`?" or empty.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace brink::conf
