// The routes of one host pattern, found by path: an exact path first, then prefixes from long to short. Prefixes end at
// path elements, as in the Gateway API: "/v1" and "/v1/" both match /v1, /v1/ and /v1/x, but not /v1x. Built once, then
// immutable; finding allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conf/config.hpp"

namespace brink::router {

// Lets a table of strings be asked with a string_view, without making a string of it.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

class PathIndex {
 public:
  using Routes = std::vector<std::uint32_t>;  // indices into Config::routes, the first to try first

  void add(const conf::MatchConfig& match, std::uint32_t route);
  // Call once after the last add: puts the routes of each path in order.
  void sort(std::span<const conf::RouteConfig> routes);

  // Calls visit(route index) for each route whose path matches, the most specific first, until it returns true.
  template <typename Visitor>
  bool visit(std::string_view path, Visitor&& visitor) const {
    const auto each = [&](const TextMap<Routes>& table, std::string_view key) {
      const auto found = table.find(key);
      if (found == table.end()) return false;
      for (const std::uint32_t route : found->second)
        if (visitor(route)) return true;
      return false;
    };
    if (each(exact_, path)) return true;
    for (std::size_t size = longest_candidate(path); size > 0; size = shorter(path, size))
      if (each(prefixes_, path.substr(0, size))) return true;
    return each(prefixes_, {});
  }

 private:
  std::size_t longest_candidate(std::string_view path) const;
  static std::size_t shorter(std::string_view path, std::size_t size);

  TextMap<Routes> exact_;
  TextMap<Routes> prefixes_;  // without trailing slashes; "" matches every path
  std::size_t longest_prefix_ = 0;
};

// Whether `path` is `prefix` or lies below it.
bool below(std::string_view path, std::string_view prefix);

}  // namespace brink::router
