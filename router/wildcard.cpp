#include "router/wildcard.hpp"

namespace brink::router {

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  constexpr auto none = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = none;  // the last `*`: only it may take more, earlier ones need not be tried again
  std::size_t taken = 0;    // up to where it has taken text
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != none) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace brink::router
