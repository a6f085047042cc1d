// Traces of accesses, and their replay against the memory tier and against a plain LRU of the same budget. For the
// tests and for the tool `cache-ratio`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cache/memory/store.hpp"
#include "tests/cache/memory/entries.hpp"

namespace brink::cache {

// A body of 256 to 4351 bytes by the object's number, or of one size for all.
struct Trace {
  std::vector<std::uint64_t> accesses;
  std::size_t body = 0;  // 0: by number

  EntryPtr entry(std::uint64_t object) const {
    const std::size_t size = body != 0 ? body : 256 + (object * 0x9E3779B97F4A7C15U >> 52);
    return make_entry({.key = "http://host/object/" + std::to_string(object), .body = size});
  }
  std::size_t objects() const { return std::unordered_set(accesses.begin(), accesses.end()).size(); }
  // Of all that is accessed: a store of this size misses only first accesses.
  std::size_t footprint() const {
    std::size_t sum = 0;
    for (const std::uint64_t object : std::unordered_set(accesses.begin(), accesses.end())) {
      sum += entry(object)->footprint();
    }
    return sum;
  }
};

struct ZipfSpec {
  double alpha = 0.9;
  std::size_t objects = 100'000;
  std::size_t requests = 500'000;
  double once = 0;  // this part of the requests is for objects that come only once
  std::uint64_t seed = 1;
};

// Independent requests; the object of rank r comes with a probability in proportion to r^-alpha.
inline Trace zipf_trace(const ZipfSpec& spec) {
  std::vector<double> up_to(spec.objects);
  double sum = 0;
  for (std::size_t i = 0; i < spec.objects; ++i) up_to[i] = sum += std::pow(static_cast<double>(i + 1), -spec.alpha);
  std::mt19937_64 bits(spec.seed);
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  Trace trace;
  std::uint64_t next_once = spec.objects;
  for (std::size_t i = 0; i < spec.requests; ++i) {
    if (uniform() < spec.once) {
      trace.accesses.push_back(next_once++);
    } else {
      const auto rank = std::lower_bound(up_to.begin(), up_to.end() - 1, uniform() * sum) - up_to.begin();
      trace.accesses.push_back(static_cast<std::uint64_t>(rank));
    }
  }
  return trace;
}

// Both return the hit ratio: every access looks up, and a miss stores.
inline double replay_store(const Trace& trace, std::size_t budget) {
  MemoryStore store({budget, 64 * 1024}, 1);
  std::size_t hits = 0;
  for (const std::uint64_t object : trace.accesses) {
    EntryPtr made = trace.entry(object);
    if (store.find(made->key, start) != nullptr) {
      ++hits;
    } else {
      store.insert(std::move(made));
    }
  }
  return static_cast<double>(hits) / static_cast<double>(trace.accesses.size());
}

inline double replay_lru(const Trace& trace, std::size_t budget) {
  std::list<std::pair<std::uint64_t, std::size_t>> order;  // most recent first: object, footprint
  std::unordered_map<std::uint64_t, decltype(order)::iterator> places;
  std::size_t bytes = 0, hits = 0;
  for (const std::uint64_t object : trace.accesses) {
    if (const auto found = places.find(object); found != places.end()) {
      order.splice(order.begin(), order, found->second);
      ++hits;
      continue;
    }
    order.emplace_front(object, trace.entry(object)->footprint());
    places[object] = order.begin();
    for (bytes += order.front().second; bytes > budget; order.pop_back()) {
      bytes -= order.back().second;
      places.erase(order.back().first);
    }
  }
  return static_cast<double>(hits) / static_cast<double>(trace.accesses.size());
}

}  // namespace brink::cache
