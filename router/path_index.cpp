#include "router/path_index.hpp"

#include <algorithm>
#include <tuple>

namespace brink::router {
namespace {

std::string_view without_slashes(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return prefix;
}

}  // namespace

bool below(std::string_view path, std::string_view prefix) {
  const std::string_view base = without_slashes(prefix);
  return path.starts_with(base) && (base.empty() || path.size() == base.size() || path[base.size()] == '/');
}

void PathIndex::add(const conf::MatchConfig& match, std::uint32_t route) {
  if (!match.path.empty()) {
    exact_[match.path].push_back(route);
    return;
  }
  const std::string prefix(without_slashes(match.path_prefix));
  longest_prefix_ = std::max(longest_prefix_, prefix.size());
  prefixes_[prefix].push_back(route);
}

void PathIndex::sort(std::span<const conf::RouteConfig> routes) {
  const auto rank = [&](std::uint32_t index) {
    const conf::MatchConfig& match = routes[index].match;
    return std::tuple(match.methods.empty(), -static_cast<long>(match.headers.size()), match.models.empty(), index);
  };
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); };
  for (TextMap<Routes>* table : {&exact_, &prefixes_})
    for (auto& [path, list] : *table) std::sort(list.begin(), list.end(), earlier);
}

// Only sizes at which a prefix may end are tried, and none longer than any prefix is: a hostile path of thousands of
// slashes costs no more than the longest configured prefix.
std::size_t PathIndex::longest_candidate(std::string_view path) const {
  if (path.size() <= longest_prefix_) return path.size();
  if (longest_prefix_ == 0) return 0;
  return path[longest_prefix_] == '/' ? longest_prefix_ : shorter(path, longest_prefix_);
}

std::size_t PathIndex::shorter(std::string_view path, std::size_t size) {
  const std::size_t slash = path.rfind('/', size - 1);
  return slash == std::string_view::npos ? 0 : slash;
}

}  // namespace brink::router
