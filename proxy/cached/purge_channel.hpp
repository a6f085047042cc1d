// How purges travel between nodes: each is written to a list in Redis and told on a channel. A node that did not hear
// the channel for a while reads the list when it hears it again; when the list itself was lost, it drops all it has.
// Nothing that was stored in Redis before its list was begun is used: its purge may have been on a list before.
//
// Control thread only. Nothing here fails: without Redis, purges reach this node alone until Redis is back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
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
  struct Waiting {
    std::string text;
    bool told;  // published, but not in the list
  };
  void on_restored();
  void on_lost(const std::string& why);
  void begin_list();
  void read_list(std::size_t offset);
  void on_list(cache::redis::Result&& result, std::size_t offset);
  bool on_begun(const std::string& score);  // false: it is none
  void read_later(const std::string& why);
  void take(std::string_view text);
  void send_next();
  void on_sent(Waiting one, bool listed);
  void on_size(const cache::redis::Result& size);

  Tiers& tiers_;
  const std::string channel_;      // of the messages
  const std::string list_;         // key of the sorted set: text of the purge by its time
  std::int64_t list_begun_ = 0;    // ms since 1970: which list this node knows; 0: none yet
  cache::WallTime heard_until_{};  // purges up to here are known
  cache::WallTime read_from_{};    // of the reading under way
  std::deque<Waiting> waiting_;    // to be told; not the one on its way
  std::deque<std::string> own_;    // told lately: they come back on the channel
  bool sending_ = false;
  bool heard_ = false;
  boost::asio::steady_timer read_again_;
  boost::asio::steady_timer send_again_;
  boost::asio::steady_timer blind_;  // until what is in memory counts as stale
  std::unique_ptr<cache::redis::Client> client_;
  std::unique_ptr<cache::redis::Subscriber> subscriber_;
};

}  // namespace brink::cached
