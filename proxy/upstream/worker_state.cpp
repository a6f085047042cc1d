#include "proxy/upstream/worker_state.hpp"

#include <algorithm>

namespace brink::upstream {

void WorkerState::use(std::shared_ptr<const Snapshot> snapshot) {
  boost::intrusive_ptr<WorkerSnapshot> next(new WorkerSnapshot);
  for (const Cluster& cluster : snapshot->clusters) {
    WorkerCluster& mine = next->clusters.emplace_back();
    mine.cluster = &cluster;
    std::vector<router::EndpointState*> states;
    for (const Endpoint& endpoint : cluster.endpoints) {
      states.push_back(endpoint.state.get());
      std::weak_ptr<Pool>& known = pools_[cluster.config->name + " " + endpoint.config->name()];
      std::shared_ptr<Pool> pool = known.lock();
      if (!pool) known = pool = std::make_shared<Pool>(loop, shard, cluster.load);
      pool->configure(cluster.config->keep_alive);
      mine.pools.push_back(std::move(pool));
    }
    mine.outliers = std::make_unique<router::Outliers>(*cluster.config, states);
    std::weak_ptr<Queue>& known_queue = queues_[cluster.config->name];
    mine.queue = known_queue.lock();
    // The room is the load's, which the snapshot keeps; a queue in use keeps it too.
    if (!mine.queue) {
      known_queue = mine.queue =
          std::make_shared<Queue>(loop, shard, std::shared_ptr<WaitingRoom>(cluster.load, &cluster.load->room));
    }
    const auto& endpoints = cluster.config->endpoints;
    mine.queue->configure(std::any_of(endpoints.begin(), endpoints.end(), [](const auto& e) { return e.max_qps > 0; }));
    mine.picker = router::make_picker(*cluster.config, states, &net::Random::call, &loop.random);
  }
  next->shared = std::move(snapshot);
  current_ = std::move(next);
  std::erase_if(queues_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(pools_, [](const auto& entry) { return entry.second.expired(); });
}

void WorkerState::close_idle() {
  for (auto& [name, known] : pools_) {
    if (const std::shared_ptr<Pool> pool = known.lock()) pool->close_idle();
  }
}

}  // namespace brink::upstream
