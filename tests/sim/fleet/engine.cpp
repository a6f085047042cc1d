#include "tests/sim/fleet/engine.hpp"

#include <algorithm>
#include <cmath>

namespace brink::fleet {
namespace {
constexpr double block_tokens = 512;
}

std::uint32_t BlockCache::matching(std::span<const std::uint32_t> blocks) const {
  const auto missing = std::find_if(blocks.begin(), blocks.end(), [&](auto block) { return !places_.contains(block); });
  return static_cast<std::uint32_t>(missing - blocks.begin());
}

void BlockCache::touch(std::span<const std::uint32_t> blocks) {
  if (capacity_ == 0) return;
  for (const std::uint32_t block : blocks) {
    if (const auto known = places_.find(block); known != places_.end()) {
      order_.splice(order_.begin(), order_, known->second);
      continue;
    }
    order_.push_front(block);
    places_[block] = order_.begin();
    if (order_.size() <= capacity_) continue;
    places_.erase(order_.back());
    order_.pop_back();
  }
}

bool Engine::remove(std::uint32_t id) {
  return std::erase_if(waiting_, [&](const Request* request) { return request->id == id; }) +
             std::erase_if(running_, [&](const Running& running) { return running.id == id; }) >
         0;
}

double Engine::admit() {
  double tokens = 0;
  while (running_.size() < shape_.batch_cap && !waiting_.empty() && tokens < shape_.prompt_tokens_per_step) {
    const Request& request = *waiting_.front();
    waiting_.pop_front();
    const std::uint32_t hits = cache_.matching(request.blocks);
    hit_blocks_ += hits;
    seen_blocks_ += static_cast<double>(request.blocks.size());
    tokens += std::max(1.0, request.prompt_tokens - block_tokens * hits);
    cache_.touch(request.blocks);
    running_.push_back({request.id, std::ceil(request.output_tokens / shape_.tokens_per_step)});
  }
  return tokens;
}

double Engine::begin_step() {
  if (hung) return 0;
  const double prompt = admit() / shape_.prompt_tokens_per_ms;
  if (running_.empty()) return 0;
  const double step = shape_.step_ms + shape_.step_ms_per_request * static_cast<double>(running_.size());
  const double took = (prompt + step) * slowness;
  busy_ms_ += took;
  return took;
}

}  // namespace brink::fleet
