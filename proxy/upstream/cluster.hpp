// Clusters as they are at run time: the configuration joined with the live state that survives it. Immutable after
// construction but for the atomics; shared by all workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conf/config.hpp"
#include "proxy/upstream/address_book.hpp"
#include "proxy/upstream/waiting_room.hpp"
#include "router/endpoint_state.hpp"
#include "router/retry_budget.hpp"
#include "router/route_table.hpp"

namespace brink::upstream {

// What a cluster's limits are counted on; lives on across reloads under the cluster's name.
struct ClusterLoad {
  std::atomic<std::uint32_t> requests{0};
  std::atomic<std::uint32_t> connections{0};
  router::RetryBudget retries;
  router::RetryBudget hedges;
  WaitingRoom room;
};

struct Endpoint {
  const conf::EndpointConfig* config = nullptr;
  std::shared_ptr<router::EndpointState> state;
  std::shared_ptr<AddressBook> addresses;
  std::uint32_t metrics = 0;  // row of (cluster, endpoint)
};

struct Cluster {
  const conf::ClusterConfig* config = nullptr;
  std::vector<Endpoint> endpoints;  // in the configuration's order
  std::shared_ptr<ClusterLoad> load;
};

// One configuration ready to serve. Pinned by each exchange for as long as it lasts.
struct Snapshot {
  explicit Snapshot(std::shared_ptr<const conf::Config> loaded) : config(std::move(loaded)), routes(*config) {}
  std::shared_ptr<const conf::Config> config;
  router::RouteTable routes;
  std::vector<Cluster> clusters;                           // in the configuration's order
  std::vector<int> fallbacks;                              // per cluster: the one that answers in its place; -1: none
  std::vector<std::vector<std::uint32_t>> route_clusters;  // per route: index into clusters, as RouteConfig::clusters
  std::vector<std::uint32_t> route_metrics;                // per route: metrics row
  std::uint64_t generation = 0;
};

}  // namespace brink::upstream
