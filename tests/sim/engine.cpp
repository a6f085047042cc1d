#include "tests/sim/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace brink::sim {

Engine::Engine(const EngineConfig& config) : config_(config), kv_(config.kv_blocks) {
  if (!(config.prefill_tokens_per_ms > 0) || !(config.step_ms >= 0) || !(config.step_batch_ms >= 0) ||
      !(config.slowness > 0) || config.max_batch == 0 || config.kv_blocks == 0) {
    throw std::invalid_argument(
        "engine: rates, slowness, batch and KV blocks must be positive, step times not negative");
  }
}

void Engine::submit(RequestId id, Millis now, Prompt prompt, std::uint32_t output_tokens) {
  run_until(now);
  const std::uint64_t tokens = std::uint64_t{prompt.tokens} + output_tokens;
  const std::uint64_t blocks = (tokens + block_tokens - 1) / block_tokens;
  Request request{.id = id,
                  .arrived = now,
                  .admitted = now,
                  .prompt = std::move(prompt),
                  .output_tokens = output_tokens,
                  .produced = 0,
                  .cached_tokens = 0,
                  .own_blocks = 0};
  Rejection rejection = Rejection::none;
  if (blocks > config_.kv_blocks) {
    rejection = Rejection::too_long;
  } else if (stepping_ && waiting_.size() >= config_.max_queue) {
    rejection = Rejection::queue_full;
  }
  if (rejection != Rejection::none) {
    emit(request, EventKind::rejected, now);
    pending_.back().rejection = rejection;
    return;
  }
  request.own_blocks = static_cast<std::uint32_t>(blocks - request.prompt.blocks.size());
  waiting_.push_back(std::move(request));
  if (!stepping_) begin_step(now);
}

bool Engine::cancel(RequestId id) {
  const auto is_it = [id](const auto& item) { return item.id == id; };
  const bool had_events = std::erase_if(pending_, is_it) > 0;
  if (const auto it = std::ranges::find_if(running_, is_it); it != running_.end()) {
    release(*it);
    running_.erase(it);
    return true;
  }
  return std::erase_if(waiting_, is_it) > 0 || had_events;
}

Millis Engine::next_event_time() const {
  if (!pending_.empty()) return pending_.front().at;
  return stepping_ ? step_end_ : never;
}

std::span<const Event> Engine::advance(Millis now) {
  run_until(now);
  handed_out_.clear();
  handed_out_.swap(pending_);
  return handed_out_;
}

double Engine::kv_usage() const { return static_cast<double>(kv_.in_use()) / kv_.capacity(); }

void Engine::run_until(Millis now) {
  while (stepping_ && step_end_ <= now) end_step();
}

void Engine::begin_step(Millis at) {
  const std::uint64_t prefill = admit(at);
  stepping_ = !running_.empty();
  if (!stepping_) return;
  ++totals_.steps;
  const double work = static_cast<double>(prefill) / config_.prefill_tokens_per_ms + config_.step_ms +
                      config_.step_batch_ms * static_cast<double>(running_.size());
  step_end_ = at + work * config_.slowness;
}

void Engine::end_step() {
  const Millis at = step_end_;
  for (Request& request : running_) {
    ++request.produced;
    ++totals_.generation_tokens;
    emit(request, request.produced == 1 ? EventKind::first_token : EventKind::token, at);
    if (request.produced == request.output_tokens) {
      emit(request, EventKind::finished, at);
      release(request);
    }
  }
  std::erase_if(running_, [](const Request& request) { return request.produced == request.output_tokens; });
  begin_step(at);
}

std::uint64_t Engine::admit(Millis at) {
  std::uint64_t prefill = 0;
  while (!waiting_.empty() && running_.size() < config_.max_batch && prefill < config_.prefill_budget) {
    Request& request = waiting_.front();
    // In order of arrival: a short request does not overtake one that waits for memory. An idle engine has all its
    // memory free, and submit() let nothing in that is larger than that, so the queue always moves on.
    const auto hits = kv_.acquire(request.prompt.blocks, request.own_blocks);
    if (!hits) break;
    request.cached_tokens = *hits * block_tokens;
    request.admitted = at;
    // The last prompt token is always computed: its output is the first token of the answer.
    prefill += std::max<std::uint32_t>(1, request.prompt.tokens - request.cached_tokens);
    totals_.prompt_tokens += request.prompt.tokens;
    totals_.prefix_queries += request.prompt.tokens;
    totals_.prefix_hits += request.cached_tokens;
    running_.push_back(std::move(request));
    waiting_.pop_front();
  }
  return prefill;
}

void Engine::emit(const Request& request, EventKind kind, Millis at) {
  pending_.push_back({.at = at,
                      .id = request.id,
                      .kind = kind,
                      .tokens = request.produced,
                      .cached_tokens = request.cached_tokens,
                      .waited = request.admitted - request.arrived,
                      .rejection = Rejection::none});
}

}  // namespace brink::sim
