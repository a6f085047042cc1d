#include "conf/problems.hpp"

#include <algorithm>
#include <tuple>

namespace brink::conf {

std::string to_string(const Problem& problem) {
  const Location& where = problem.where;
  if (where.file.empty()) return problem.message;
  if (where.line == 0) return where.file + ": " + problem.message;
  return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": " + problem.message;
}

void Problems::add_file(const std::string& file) { file_order_.try_emplace(file, file_order_.size()); }

void Problems::add(Location where, std::string message) {
  if (full_) return;
  add_file(where.file);
  problems_.push_back({std::move(where), std::move(message)});
  full_ = problems_.size() >= max_problems;
}

std::vector<Problem> Problems::take() {
  auto key = [this](const Problem& problem) {
    return std::tuple(file_order_.at(problem.where.file), problem.where.line, problem.where.column);
  };
  std::stable_sort(problems_.begin(), problems_.end(),
                   [&](const Problem& left, const Problem& right) { return key(left) < key(right); });
  if (full_) problems_.push_back({{}, "more problems follow; only the first found are listed"});
  full_ = false;
  return std::exchange(problems_, {});
}

std::string ticked(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string out = "`";
  for (char c : text.substr(0, longest)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // A cut must not leave half a UTF-8 sequence behind.
  if (text.size() > longest) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "...";
  }
  return out + "`";
}

namespace {

// Optimal string alignment: insertions, deletions, replacements, and swaps of neighbours each cost one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t longest = 64;  // bounds the work on hostile names
  if (name.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > longest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
  const std::string_view found = nearest(name, candidates);
  return found.empty() ? std::string() : "; did you mean `" + std::string(found) + "`?";
}

}  // namespace brink::conf
