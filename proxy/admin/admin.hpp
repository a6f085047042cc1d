// The admin API: what Brink is doing and two levers, as an ordinary request-to-response handler. Paths and answers are
// described in docs/admin-api.md.
//
// Threads: the control thread's. It may block for as long as a reload takes.
//
// A web page that a browser on this machine shows must not reach this API: on a loopback listener the Host field has to
// be an address, localhost or the configured host (against DNS rebinding), and a POST with the Origin of another host
// is refused (against forged requests).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conf/config.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/local_reply.hpp"
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

// Where the answers come from. Every member must be set.
struct Sources {
  std::function<std::shared_ptr<const conf::Config>()> config;
  std::function<std::vector<EndpointView>()> endpoints;  // of the current configuration, in its order
  std::function<Readiness()> ready;
  std::function<ReloadOutcome()> reload;
  std::function<void()> drain;  // begins it and returns
  std::function<std::string()> metrics;
  std::function<std::uint64_t(std::string_view route)> route_requests;
};

class Admin {
 public:
  explicit Admin(Sources sources) : sources_(std::move(sources)) {}

  // The reply to a HEAD is that of the GET, its body included: the session leaves the body away. Never throws for what
  // a request says.
  http::LocalReply handle(const http::RequestHead& request) const;

 private:
  Sources sources_;
};

}  // namespace brink::admin
