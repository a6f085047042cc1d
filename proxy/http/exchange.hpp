// One request with everything known of it, from stop 4 (open exchange) to stop 14 (finish). Belongs to its session and
// its worker; never shared between threads. Recycled, so that its vectors keep their capacity.
#pragma once

#include <array>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "conf/config.hpp"
#include "proxy/http/errors.hpp"
#include "proxy/http/head.hpp"
#include "router/endpoint_state.hpp"

namespace brink::http {

using router::Time;

// The 14 stops of a request (docs/architecture.md). The names are the same in code, metrics and the access log.
enum class Stop : std::uint8_t {
  accept = 1,
  secure,
  parse,
  open,
  match,
  admit,
  request_filters,
  cache,
  choose_cluster,
  dispatch,
  fill,
  response_filters,
  write,
  finish,
};
std::string_view to_string(Stop stop);

// What an exchange keeps alive until its end, such as the configuration snapshot it began with. One thread only.
struct Pinned : boost::intrusive_ref_counter<Pinned, boost::thread_unsafe_counter> {
  virtual ~Pinned() = default;
};

// What the cache did for an exchange; the word in the access log and in the metrics.
enum class CacheResult : std::uint8_t {
  none,         // the route has no cache
  hit,          // answered from it
  stale,        // answered from it, past its freshness
  revalidated,  // answered from it after the backend said that it still holds
  collapsed,    // followed another request's backend call
  miss,         // fetched, and could be stored
  bypass,       // the cache may not serve or keep it
};
std::string_view to_string(CacheResult result);

struct Exchange {
  static constexpr std::uint32_t no_index = ~0U;

  // Stop 4: open.
  RequestHead head;           // views into the session's buffer, which stands until finish
  std::string request_id;     // the client's if sane, else ours
  std::string traceparent;    // W3C Trace Context, the client's if valid, else ours
  std::string_view peer;      // address of the connection's other end, numeric, without port; the session's
  std::string_view client;    // of the client: the peer, or what a trusted proxy says (x-forwarded-for)
  bool pipelined = false;     // it had arrived before the answer to the one before was finished
  bool body_decoded = false;  // its content coding was taken off
  bool trusted_peer = false;  // the peer is one of downstream.trusted_proxies
  Time start{};               // first byte of the request
  Time head_done{};           // the head is complete

  boost::intrusive_ptr<Pinned> pin;  // what the pointers below point into

  // Stops 5 and 9.
  const conf::RouteConfig* route = nullptr;  // lives in the pinned snapshot
  std::uint32_t route_metrics = no_index;    // ids of the metric rows, see observe/metrics
  const conf::ClusterConfig* cluster = nullptr;
  const conf::ClusterConfig* fallback = nullptr;  // the cluster that answers in the place of the one chosen
  std::string model;                              // the body's `model`, if it was looked for

  CacheResult cache = CacheResult::none;  // stop 8
  bool watched = false;                   // its response changes what is stored, though it is not stored itself

  // Stop 10: the last attempt.
  const router::EndpointState* endpoint = nullptr;
  std::uint32_t endpoint_metrics = no_index;  // of the pair (cluster, endpoint)
  std::uint16_t attempts = 0;
  bool reused = false;  // the last attempt went over a kept connection
  Time sent{};          // the request is wholly sent; {}: never
  Time first_byte{};    // the response head arrived; {}: never

  // Stops 13 and 14.
  Stop stop = Stop::open;  // the furthest one reached; an error's stop is where it arose
  unsigned status = 0;     // sent to the client; 0: nothing was sent
  bool head_sent = false;
  bool tunnel = false;    // 101 was passed on
  bool complete = false;  // the response's last byte was handed to the kernel
  ErrorKind error = ErrorKind::none;
  std::string error_detail;     // for the log; never a secret
  std::uint64_t bytes_in = 0;   // of the request's body (tunnel: from the client)
  std::uint64_t bytes_out = 0;  // of the response's body (tunnel: to the client)

  void fail(ErrorKind kind, Stop where, std::string_view detail = {}) {
    if (error != ErrorKind::none) return;  // the first cause is the one that counts
    error = kind;
    stop = where;
    error_detail = detail;
  }
  void reset();
};

}  // namespace brink::http
