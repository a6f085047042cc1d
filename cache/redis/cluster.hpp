// Which link a command takes in a cluster: the map of slots, its links, and when the map has to be asked for again. One
// thread; part of Client.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cache/redis/link.hpp"
#include "cache/redis/options.hpp"
#include "cache/redis/slots.hpp"

namespace brink::cache::redis {

class Cluster : public std::enable_shared_from_this<Cluster> {
 public:
  // Sends CLUSTER SLOTS over `link`; false: it was not sent. The answer comes to on_map().
  using Ask = std::function<bool(Link& link)>;

  Cluster(boost::asio::io_context& context, Link::Owner& owner, const Options& options, TlsContext tls, Ask ask);

  // The link for a slot, or of any node that is available. Null: there are too many links.
  Link* find(unsigned slot);
  Link* any();
  Link* open(const Node& node);

  void moved(const Redirect& redirect);
  void refresh();  // soon, and not too often
  void on_map(const Node& answered_by, const Result& result);
  bool available() const;
  void close();

 private:
  void ask_next();
  void wait(Clock::duration delay);
  void drop_strangers();
  Node candidate() const;

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  Link::Owner& owner_;
  const Options options_;
  const TlsContext tls_;
  const Ask ask_;
  SlotMap map_;
  std::map<std::string, std::shared_ptr<Link>> links_;
  bool refreshing_ = false;  // asked, or waiting to ask
  bool closed_ = false;
  Time refreshed_{};
  std::size_t next_ = 0;   // of the nodes to ask
  std::size_t tried_ = 0;  // in this round
};

}  // namespace brink::cache::redis
