// How purges travel between nodes: each is written to a list in Redis and told on a channel. A node that did not hear
// the channel for a while reads the list when it hears it again; when the list itself was lost, it drops all it has.
//
// Control thread only. Nothing here fails: without Redis, purges reach this node alone until Redis is back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>

#include "cache/memory/purge.hpp"
#include "conf/config.hpp"
#include "proxy/cached/tiers.hpp"

namespace brink::cache::redis {
class Client;
class Subscriber;
struct Result;
}  // namespace brink::cache::redis

namespace brink::cached {

class PurgeChannel {
 public:
  PurgeChannel(boost::asio::io_context& context, Tiers& tiers, const conf::RedisConfig& config);
  ~PurgeChannel();

  // Tells the other nodes; while Redis is away it is kept, up to a bound past which everything is purged instead.
  void announce(const cache::PurgeNotice& notice);
  bool connected() const;

 private:
  void on_restored();
  void on_epoch(cache::redis::Result&& result, bool was_set);
  void on_list(cache::redis::Result&& result);
  void on_lost(const std::string& why);
  void take(std::string_view text);
  void send_next();
  void later(void (PurgeChannel::*what)());

  Tiers& tiers_;
  const std::string channel_;  // of the messages
  const std::string list_;     // key of the sorted set: text of the purge by its time
  const std::string epoch_key_;
  std::string epoch_;                // of the list as this node knows it; empty: not yet
  cache::WallTime heard_until_{};    // purges up to here are known
  std::deque<std::string> waiting_;  // to be told; the front one is on its way if `sending_`
  std::deque<std::string> own_;      // told lately: they come back on the channel
  bool sending_ = false;
  bool heard_ = false;
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer blind_;  // until what is in memory counts as stale
  std::unique_ptr<cache::redis::Client> client_;
  std::unique_ptr<cache::redis::Subscriber> subscriber_;
};

}  // namespace brink::cached
