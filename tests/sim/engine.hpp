// A GPU inference engine with continuous batching, as a discrete-event model without I/O, clock or randomness: the
// server drives it by real time, a simulator by its own. Single-threaded. All times are milliseconds on the caller's
// scale and must not go back.
//
// The engine works in steps. A step takes waiting requests in, first come first served, while the batch, the KV memory
// and the step's prefill budget allow, and lasts
//     slowness x (uncached prompt tokens taken in / prefill rate + a + b x batch)
// At its end each running request has one more token. KV memory for prompt and answer is set aside when a request is
// taken in, so nothing is ever preempted. Slowness is read when a step begins.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "tests/sim/kv_cache.hpp"

namespace brink::sim {

using Millis = double;
using RequestId = std::uint64_t;

struct EngineConfig {
  double prefill_tokens_per_ms = 80;     // > 0
  double step_ms = 6;                    // a, >= 0
  double step_batch_ms = 0.25;           // b, >= 0
  std::uint32_t max_batch = 8;           // >= 1
  std::uint32_t max_queue = 256;         // waiting requests beyond which new ones are rejected
  std::uint32_t kv_blocks = 4096;        // of 16 tokens
  std::uint32_t prefill_budget = 16384;  // prompt tokens after which a step takes nobody else in
  double slowness = 1;                   // > 0
};

struct Prompt {
  std::uint32_t tokens = 0;
  std::vector<BlockHash> blocks;  // its full blocks; at most tokens / 16
};

enum class EventKind {
  first_token,
  token,
  finished,  // follows the last token at the same time
  rejected,  // the request never ran
};

enum class Rejection { none, queue_full, too_long };

struct Event {
  Millis at = 0;
  RequestId id = 0;
  EventKind kind = EventKind::token;
  std::uint32_t tokens = 0;         // produced so far
  std::uint32_t cached_tokens = 0;  // of the prompt, found in the KV cache
  Millis waited = 0;                // in the queue
  Rejection rejection = Rejection::none;
};

// Totals since the start or the last clear_totals().
struct EngineTotals {
  std::uint64_t prompt_tokens = 0;  // of requests taken in
  std::uint64_t generation_tokens = 0;
  std::uint64_t prefix_queries = 0;  // prompt tokens looked up in the prefix cache
  std::uint64_t prefix_hits = 0;     // and found
  std::uint64_t steps = 0;
};

class Engine {
 public:
  static constexpr Millis never = std::numeric_limits<Millis>::infinity();

  explicit Engine(const EngineConfig& config);

  // REQUIRES: an id not in use, output_tokens >= 1. Every request ends in exactly one of finished, rejected or
  // cancel().
  void submit(RequestId id, Millis now, Prompt prompt, std::uint32_t output_tokens);

  // The client left: its place and its KV blocks are free at once. Events not yet handed out are dropped. False when
  // the engine does not know the id (any more).
  bool cancel(RequestId id);

  // When advance() has something to do next; `never` while idle.
  Millis next_event_time() const;

  // Runs up to and including `now`. The events are in order and valid until the next advance(); submit and cancel may
  // be called while reading them.
  std::span<const Event> advance(Millis now);

  void set_slowness(double slowness) { config_.slowness = slowness; }
  void clear_totals() { totals_ = {}; }
  void drop_prefix_cache() { kv_.drop_unused(); }

  const EngineConfig& config() const { return config_; }
  const EngineTotals& totals() const { return totals_; }
  std::uint32_t running() const { return static_cast<std::uint32_t>(running_.size()); }
  std::uint32_t waiting() const { return static_cast<std::uint32_t>(waiting_.size()); }
  double kv_usage() const;  // 0 to 1: blocks in use; unused prefixes count as free
  const KvCache& kv() const { return kv_; }

 private:
  struct Request {
    RequestId id;
    Millis arrived;
    Millis admitted;
    Prompt prompt;
    std::uint32_t output_tokens;
    std::uint32_t produced;
    std::uint32_t cached_tokens;
    std::uint32_t own_blocks;  // KV blocks beside the shared chain
  };

  void run_until(Millis now);
  void begin_step(Millis at);
  void end_step();
  std::uint64_t admit(Millis at);  // returns the prompt tokens to compute
  void emit(const Request& request, EventKind kind, Millis at);
  void release(const Request& request) { kv_.release(request.prompt.blocks, request.own_blocks); }

  EngineConfig config_;
  KvCache kv_;
  EngineTotals totals_;
  std::deque<Request> waiting_;
  std::vector<Request> running_;
  bool stepping_ = false;
  Millis step_end_ = 0;
  std::vector<Event> pending_;  // not handed out yet
  std::vector<Event> handed_out_;
};

}  // namespace brink::sim
