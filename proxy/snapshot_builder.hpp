// Joins a loaded configuration with the state that lives on across reloads (endpoints, loads, addresses, metric rows)
// into a Snapshot. Control thread only.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "proxy/net/resolver.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/upstream/cluster.hpp"
#include "router/registry.hpp"

namespace brink {

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(observe::Metrics& metrics) : metrics_(metrics) {}

  // Waits until names seen for the first time have an outcome, at most `patience`: the first requests should find
  // addresses.
  std::shared_ptr<const upstream::Snapshot> build(std::shared_ptr<const conf::Config> config,
                                                  std::chrono::milliseconds patience);
  void refresh(const std::string& host) { resolver_.refresh(host); }  // any thread

 private:
  struct Known {
    std::shared_ptr<upstream::AddressBook> addresses;
    std::optional<net::Resolver::Watch> watch;  // none for numeric addresses and Unix sockets
  };
  struct Outcomes;
  std::shared_ptr<upstream::AddressBook> addresses_of(const conf::EndpointConfig& endpoint,
                                                      const std::shared_ptr<Outcomes>& outcomes);

  observe::Metrics& metrics_;
  router::EndpointRegistry registry_;
  std::map<std::string, std::weak_ptr<upstream::ClusterLoad>> loads_;  // by cluster name
  net::Resolver resolver_;
  std::map<std::string, Known> known_;  // by endpoint name
  std::uint64_t generation_ = 0;
};

}  // namespace brink
