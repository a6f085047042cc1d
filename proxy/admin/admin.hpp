// The admin API: what Brink is doing and a few levers, as an ordinary request-to-response handler. Paths and answers
// are described in docs/admin-api.md.
//
// Threads: the control thread's. It may block for as long as a reload takes.
//
// A web page that a browser on this machine shows must not reach this API: on a loopback listener the Host field has to
// be an address, localhost or the configured host (against DNS rebinding), and a POST with the Origin of another host
// is refused (against forged requests).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/memory/purge.hpp"
#include "conf/config.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/local_reply.hpp"
#include "proxy/observe/metrics.hpp"
#include "router/endpoint_state.hpp"

namespace brink::admin {

struct EndpointView {
  std::string cluster;
  unsigned weight = 1;
  std::shared_ptr<const router::EndpointState> state;
};

struct Readiness {
  bool ready = false;
  std::string reason;  // why not; empty when ready
};

struct ReloadOutcome {
  bool ok = false;
  std::vector<std::string> problems;  // "file:line:column: message", with !ok
};

struct CacheView {
  observe::CacheNumbers numbers;
  std::array<std::uint64_t, observe::cache_results> requests{};  // by what the cache did for them
  bool purges_known = false;  // those that other nodes made: until then Redis is not asked
  std::uint64_t redis_hits = 0, redis_misses = 0, redis_errors = 0, redis_timeouts = 0, redis_unreadable = 0;
};

// Where the answers come from. Every member must be set.
struct Sources {
  std::function<std::shared_ptr<const conf::Config>()> config;
  std::function<std::vector<EndpointView>()> endpoints;  // of the current configuration, in its order
  std::function<Readiness()> ready;
  std::function<ReloadOutcome()> reload;
  std::function<void()> drain;  // begins it and returns
  std::function<std::string()> metrics;
  std::function<std::uint64_t(std::string_view route)> route_requests;
  std::function<CacheView()> cache;
  // Here and on the other nodes; returns how many entries this one's memory had.
  std::function<std::size_t(const cache::Purge& what, bool soft)> purge;
};

class Admin {
 public:
  explicit Admin(Sources sources) : sources_(std::move(sources)) {}

  // The reply to a HEAD is that of the GET, its body included: the session leaves the body away. Never throws for what
  // a request says.
  // `body`: the request's, where takes_body() says so.
  http::LocalReply handle(const http::RequestHead& request, std::string_view body) const;
  // Whether the answer needs the request's body. Not for a request that is refused by its head.
  bool takes_body(const http::RequestHead& request) const;

 private:
  Sources sources_;
};

}  // namespace brink::admin
