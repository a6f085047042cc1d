#include "proxy/snapshot_builder.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <condition_variable>
#include <mutex>
#include <set>

namespace brink {

namespace asio = boost::asio;

// How many names still have no outcome.
struct SnapshotBuilder::Outcomes {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t missing = 0;
};

std::shared_ptr<upstream::AddressBook> SnapshotBuilder::addresses_of(const conf::EndpointConfig& endpoint,
                                                                     const std::shared_ptr<Outcomes>& outcomes) {
  const auto [entry, added] = known_.try_emplace(endpoint.name());
  Known& known = entry->second;
  if (!added) return known.addresses;
  known.addresses = std::make_shared<upstream::AddressBook>();
  boost::system::error_code error;
  if (!endpoint.path.empty()) {
    known.addresses->set({{asio::local::stream_protocol::endpoint(endpoint.path)}, {}});
  } else if (const auto address = asio::ip::make_address(endpoint.host, error); !error) {
    known.addresses->set({{asio::ip::tcp::endpoint(address, endpoint.port)}, {}});
  } else {
    {
      const std::lock_guard lock(outcomes->mutex);
      ++outcomes->missing;
    }
    known.watch =
        resolver_.watch(endpoint.host, endpoint.port,
                        [book = known.addresses, outcomes, first = true](const net::Resolver::Update& update) mutable {
                          upstream::AddressBook::Answer answer{{}, update.error};
                          for (const auto& resolved : update.addresses) answer.addresses.emplace_back(resolved);
                          book->set(std::move(answer));
                          if (!std::exchange(first, false)) return;
                          const std::lock_guard lock(outcomes->mutex);
                          --outcomes->missing;
                          outcomes->changed.notify_all();
                        });
  }
  return known.addresses;
}

std::shared_ptr<const upstream::Snapshot> SnapshotBuilder::build(std::shared_ptr<const conf::Config> config,
                                                                 std::chrono::milliseconds patience) {
  auto snapshot = std::make_shared<upstream::Snapshot>(std::move(config));
  const auto outcomes = std::make_shared<Outcomes>();
  std::map<std::string, std::uint32_t> cluster_index;
  std::set<std::string> in_use;
  for (const conf::ClusterConfig& cluster : snapshot->config->clusters) {
    cluster_index[cluster.name] = static_cast<std::uint32_t>(snapshot->clusters.size());
    upstream::Cluster& built = snapshot->clusters.emplace_back();
    built.config = &cluster;
    built.load = loads_[cluster.name].lock();
    if (!built.load) loads_[cluster.name] = built.load = std::make_shared<upstream::ClusterLoad>();
    for (const conf::EndpointConfig& endpoint : cluster.endpoints) {
      in_use.insert(endpoint.name());
      built.endpoints.push_back({&endpoint, registry_.acquire(endpoint.name()), addresses_of(endpoint, outcomes),
                                 metrics_.endpoint_row(cluster.name, endpoint.name())});
    }
  }
  for (const conf::ClusterConfig& cluster : snapshot->config->clusters) {
    const auto fallback = cluster_index.find(cluster.fallback);
    snapshot->fallbacks.push_back(fallback == cluster_index.end() ? -1 : static_cast<int>(fallback->second));
  }
  for (const conf::RouteConfig& route : snapshot->config->routes) {
    auto& clusters = snapshot->route_clusters.emplace_back();
    for (const conf::SplitConfig& split : route.clusters) clusters.push_back(cluster_index.at(split.cluster));
    snapshot->route_metrics.push_back(metrics_.route_row(route.name));
  }
  snapshot->generation = ++generation_;
  std::erase_if(known_, [&](const auto& entry) { return !in_use.contains(entry.first); });
  std::erase_if(loads_, [](const auto& entry) { return entry.second.expired(); });

  std::unique_lock lock(outcomes->mutex);
  outcomes->changed.wait_for(lock, patience, [&] { return outcomes->missing == 0; });
  return snapshot;
}

}  // namespace brink
