// One GPU engine in simulated time: continuous batching. A step admits what waits, as far as batch, prompt budget and
// KV memory allow, takes (uncached prompt tokens / rate + a + b x batch) x slowness, and gives every running request
// one step's tokens. Blocks of prompts stay in a prefix cache with LRU eviction. Knows no clock: the simulation asks
// how long a step takes and says when it is over.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "tests/sim/fleet/policy.hpp"

namespace brink::fleet {

// Speeds are those of an ordinary engine; an engine's own slowness multiplies every step.
struct EngineShape {
  std::uint32_t batch_cap = 8;
  double step_ms = 6;  // of an empty batch
  double step_ms_per_request = 0.25;
  double prompt_tokens_per_ms = 80;
  double tokens_per_step = 8;                    // above 1: speculative decoding, or steps counted in groups
  std::uint32_t prompt_tokens_per_step = 16384;  // admission stops past this
  std::uint32_t cache_blocks = 0;                // prefix cache, blocks of 512 tokens; 0: none
};

// Least recently used set of block names.
class BlockCache {
 public:
  explicit BlockCache(std::size_t capacity) : capacity_(capacity) {}
  std::uint32_t matching(std::span<const std::uint32_t> blocks) const;  // leading blocks that are here
  void touch(std::span<const std::uint32_t> blocks);
  std::size_t size() const { return order_.size(); }

 private:
  std::size_t capacity_;
  std::list<std::uint32_t> order_;  // newest first
  std::unordered_map<std::uint32_t, std::list<std::uint32_t>::iterator> places_;
};

class Engine {
 public:
  struct Running {
    std::uint32_t id;
    double steps_left;
    bool first = true;  // its next step gives the first token
  };
  explicit Engine(const EngineShape& shape) : shape_(shape), cache_(shape.cache_blocks) {}

  void enqueue(const Request& request) { waiting_.push_back(&request); }
  bool remove(std::uint32_t id);  // waiting or running; false: not here
  // Admits and begins a step. Its length in ms; 0 when there is nothing to do.
  double begin_step();
  std::vector<Running>& running() { return running_; }

  double slowness = 1;
  bool hung = false;   // takes requests, does nothing
  double failing = 0;  // share of requests refused at once
  bool away = false;   // not there yet: nobody may pick it

  std::uint32_t waiting() const { return static_cast<std::uint32_t>(waiting_.size()); }
  double busy_ms() const { return busy_ms_; }
  double hit_blocks() const { return hit_blocks_; }
  double seen_blocks() const { return seen_blocks_; }

 private:
  double admit();  // uncached prompt tokens

  EngineShape shape_;
  BlockCache cache_;
  std::deque<const Request*> waiting_;
  std::vector<Running> running_;
  double busy_ms_ = 0;
  double hit_blocks_ = 0;
  double seen_blocks_ = 0;
};

}  // namespace brink::fleet
