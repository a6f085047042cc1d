// Entries for the tests of the memory tier.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cache/entry.hpp"

namespace brink::cache {

inline constexpr WallTime start{std::chrono::hours(24 * 365 * 50)};

struct EntrySpec {
  std::string key;
  std::size_t body = 100;
  std::string url = {};
  std::string route = {};
  std::string model = {};
  std::vector<std::string> tags = {};
  Entry::Kind kind = Entry::Kind::response;
  WallTime useful_until = start + std::chrono::hours(1);
};

inline EntryPtr make_entry(EntrySpec spec) {
  boost::intrusive_ptr<Entry> entry(new Entry);
  entry->key = std::move(spec.key);
  entry->body.assign(spec.body, 'x');
  entry->url = std::move(spec.url);
  entry->route = std::move(spec.route);
  entry->model = std::move(spec.model);
  entry->tags = std::move(spec.tags);
  entry->kind = spec.kind;
  entry->useful_until = spec.useful_until;
  return entry;
}

}  // namespace brink::cache
