// The metrics that are one number a worker, named once: this table makes the enums, the exposition and
// docs/observability.md. Metrics with labels (routes, endpoints, error kinds) are written out in exposition.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace brink::observe {

// name in the code, name after `brink_`, help text.
// clang-format off
#define BRINK_COUNTERS(X)                                                                                                     \
  X(downstream_opened,   "downstream_connections_opened_total",   "Client connections accepted.")                             \
  X(downstream_closed,   "downstream_connections_closed_total",   "Client connections closed.")                               \
  X(accept_rejected,     "downstream_connections_rejected_total", "Client connections closed at once: cap reached or drain.") \
  X(accept_errors,       "accept_errors_total",                   "Failures of accept(), such as running out of descriptors.") \
  X(pipelined,           "pipelined_requests_total",              "Requests that had arrived before the answer to the one before was finished.") \
  X(retries,             "upstream_retries_total",                "Attempts after the first one of a request.")               \
  X(fallbacks,           "fallbacks_total",                       "Requests that went on to the fallback of their cluster.")  \
  X(retry_budget_empty,  "upstream_retry_budget_exhausted_total", "Retries not made because the cluster's budget was used up.") \
  X(hedges,              "upstream_hedges_total",                 "Requests for which a second endpoint was asked because the first was late.") \
  X(hedges_won,          "upstream_hedges_won_total",             "Of these, those that the second endpoint answered first.") \
  X(queue_waited,        "queue_waited_total",                    "Requests that waited for a backend to have room.")         \
  X(queue_expired,       "queue_expired_total",                   "Of these, those that waited too long.")                    \
  X(queue_refused,       "queue_refused_total",                   "Requests refused because the queue was full.")             \
  X(upstream_stale,      "upstream_stale_connections_total",      "Kept upstream connections found closed by the backend when wanted.") \
  X(tunnels_opened,      "tunnels_opened_total",                  "Upgrades passed on (101).")                                \
  X(redis_hits,          "redis_hits_total",                      "Answers found in Redis.")                                  \
  X(redis_misses,        "redis_misses_total",                    "Answers that Redis did not have.")                         \
  X(redis_errors,        "redis_errors_total",                    "Commands that Redis did not carry out, time-outs included.") \
  X(redis_timeouts,      "redis_timeouts_total",                  "Commands that Redis did not answer in time.")              \
  X(redis_unreadable,    "redis_unreadable_total",                "Values in Redis that were corrupt or not ours.")

#define BRINK_GAUGES(X)                                                                                                       \
  X(buffer_pool_bytes,   "buffer_pool_in_use_bytes",              "Bytes of read buffers that requests hold now.")            \
  X(queue_waiting,       "queue_waiting",                         "Requests that wait for a backend to have room now.")       \
  X(idle_upstream,       "upstream_idle_connections",             "Upstream connections kept for the next request.")          \
  X(tunnels_open,        "tunnels_open",                          "Tunnels open now.")
// clang-format on

#define BRINK_ENUM(name, metric, help) name,
enum class Counter : std::uint8_t { BRINK_COUNTERS(BRINK_ENUM) };
enum class Gauge : std::uint8_t { BRINK_GAUGES(BRINK_ENUM) };
#undef BRINK_ENUM

#define BRINK_COUNT(name, metric, help) +1
inline constexpr std::size_t counter_count = 0 BRINK_COUNTERS(BRINK_COUNT);
inline constexpr std::size_t gauge_count = 0 BRINK_GAUGES(BRINK_COUNT);
#undef BRINK_COUNT

}  // namespace brink::observe
