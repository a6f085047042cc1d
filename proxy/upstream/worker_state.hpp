// A worker's view of a snapshot: the shared clusters with this worker's own pickers and connection pools. Exchanges pin
// it; the old one goes when the last of them ends. One thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/http/exchange.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/observe/shard.hpp"
#include "proxy/upstream/cluster.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/upstream/queue.hpp"
#include "router/outliers.hpp"
#include "router/picker.hpp"

namespace brink::upstream {

struct WorkerCluster {
  const Cluster* cluster = nullptr;
  std::unique_ptr<router::Picker> picker;
  std::unique_ptr<router::Outliers> outliers;
  std::vector<std::shared_ptr<Pool>> pools;  // one an endpoint
  std::shared_ptr<Queue> queue;              // survives a reload, like the pools
};

struct WorkerSnapshot final : http::Pinned {
  std::shared_ptr<const Snapshot> shared;
  std::vector<WorkerCluster> clusters;
};

// What all dispatches of a worker use.
class WorkerState {
 public:
  using RefreshAddresses = std::function<void(const std::string& host)>;
  // `refresh` is called when a connection to a name failed: resolve it again.
  WorkerState(net::Loop& its_loop, observe::Shard& its_shard, RefreshAddresses refresh)
      : loop(its_loop), shard(its_shard), refresh_addresses(std::move(refresh)) {}

  void use(std::shared_ptr<const Snapshot> snapshot);
  const boost::intrusive_ptr<WorkerSnapshot>& current() const { return current_; }
  void close_idle();

  net::Loop& loop;
  observe::Shard& shard;
  RefreshAddresses refresh_addresses;
  std::size_t running = 0;  // dispatches now

 private:
  boost::intrusive_ptr<WorkerSnapshot> current_;
  std::map<std::string, std::weak_ptr<Queue>> queues_;  // by cluster
  std::map<std::string, std::weak_ptr<Pool>> pools_;    // by "cluster endpoint", so that they survive a reload
};

}  // namespace brink::upstream
