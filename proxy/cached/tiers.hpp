// The cache as the proxy uses it: what all workers share, and a worker's own way to it, memory first and Redis behind.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "cache/flight/table.hpp"
#include "cache/inference/request_key.hpp"
#include "cache/memory/purge_log.hpp"
#include "cache/memory/store.hpp"
#include "conf/config.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/observe/shard.hpp"

namespace brink::cache::redis {
class Client;
struct Result;
}

namespace brink::cached {

class Fetch;

// Shared by all threads.
struct Tiers {
  cache::MemoryStore memory{{}};
  cache::FlightTable flights{0};
  cache::PurgeLog purges;
  // Whether the purges that other nodes made are known: until then nothing is taken from Redis.
  std::atomic<bool> purges_known{false};

  void configure(const conf::CacheTiersConfig& config);  // control thread
  // Tells other nodes of a purge that began here; empty: there are none. Any thread.
  std::function<void(const cache::PurgeNotice&)> announce;
  // In memory and for what is to come; returns how many entries it found. Any thread.
  std::size_t purge(const cache::Purge& what, bool soft, cache::WallTime at, cache::WallTime now);
};

cache::WallTime wall_now();

class WorkerTiers {
 public:
  using Found = std::function<void(cache::EntryPtr)>;
  WorkerTiers(Tiers& shared, net::Loop& loop, observe::Shard& shard);
  ~WorkerTiers();
  void configure(const conf::CacheTiersConfig& config);

  // From memory; nullptr: not there. Otherwise ask the shared tier, if there is one.
  cache::EntryPtr find(const std::string& key);
  bool has_shared_tier() const;
  // `found` is called later, with nullptr if it has nothing or the tier goes. The id is for cancel(); never 0.
  std::uint64_t find_shared(const std::string& key, std::uint64_t max_object, Found found);
  void cancel(std::uint64_t id);
  // Into all tiers. `asked_at`: when the request for it was sent; a purge since then wins.
  void store(cache::EntryPtr entry, cache::WallTime asked_at);
  void erase(const std::string& key);
  // What is stored of a URL is not true any more, here and on other nodes.
  void invalidate(const std::string& url);
  void close();  // ends all fetches; the worker stops

  Tiers& shared;
  net::Loop& loop;
  observe::Shard& shard;
  cache::inference::RequestKey request_key;
  std::list<boost::intrusive_ptr<Fetch>> fetches;  // those under way

 private:
  struct Lookup {
    std::uint64_t command = 0;  // the client's id of it
    Found found;
  };
  void take_shared(const std::string& key, std::uint64_t max_object, const cache::redis::Result& result,
                   const Found& found);

  std::unique_ptr<cache::redis::Client> redis_;
  std::unordered_map<std::uint64_t, Lookup> lookups_;  // those under way
  std::uint64_t last_lookup_ = 0;
  std::optional<conf::RedisConfig> redis_config_;
};

}  // namespace brink::cached
