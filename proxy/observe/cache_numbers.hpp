// What the cache of the process tells of itself, as it is at one moment. Plain values, made by whoever reports.
#pragma once

#include <cstdint>

#include "cache/memory/store.hpp"

namespace brink::observe {

struct CacheNumbers {
  cache::MemoryStats memory;
  std::uint64_t budget = 0;         // bytes that the memory tier may hold; 0: it is off
  std::uint64_t flights = 0;        // backend calls that others may follow
  std::uint64_t flights_bytes = 0;  // of their answers, kept for storing
  std::uint64_t purge_records = 0;  // purges remembered for entries that arrive later
};

}  // namespace brink::observe
