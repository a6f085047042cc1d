// Connections to one endpoint of one cluster, a worker's own: opens them, keeps idle ones, hands them out again. A
// connection that the peer closed is never handed out. Idle ones are bounded in number and time.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/net/loop.hpp"
#include "proxy/net/outbox.hpp"
#include "proxy/net/socket.hpp"
#include "proxy/observe/shard.hpp"
#include "proxy/upstream/cluster.hpp"
#include "router/first_byte_times.hpp"

namespace brink::upstream {

class Pool;

// One connection to a backend. Between requests it is the pool's, during one the exchange's that owns it.
class Connection final : public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter> {
 public:
  // Who uses the connection. Called from the event loop only.
  class Owner {
   public:
    virtual void on_connected(boost::system::error_code error) = 0;
    virtual void on_upstream_readable() = 0;
    virtual void on_upstream_writable() = 0;

   protected:
    ~Owner() = default;
  };

  Connection(std::shared_ptr<Pool> pool, net::Loop& loop);
  ~Connection();

  void connect(const Address& address);  // on_connected follows
  void set_owner(Owner* owner) { owner_ = owner; }
  void arm_read();                                    // on_upstream_readable follows; a wait already pending is kept
  void arm_write();                                   // on_upstream_writable follows
  void on_readable(boost::system::error_code error);  // for the socket
  void close();                                       // nobody is called any more

  net::Socket socket;
  net::Outbox out;

 private:
  friend class Pool;
  std::shared_ptr<Pool> pool_;
  Owner* owner_ = nullptr;  // nullptr: idle, or closed
  net::Timer idle_timer_;
  bool read_armed_ = false;
  bool idle_ = false;
  bool counted_ = true;  // in the cluster's connections
};

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(net::Loop& loop, observe::Shard& shard, std::shared_ptr<ClusterLoad> load);
  ~Pool();

  void configure(const conf::ClusterConfig::KeepAlive& keep_alive) { keep_alive_ = keep_alive; }
  // An idle connection whose peer is still there, the most recently used one; nullptr if there is none.
  boost::intrusive_ptr<Connection> take();
  // A new, unconnected one; nullptr when the cluster has `max_connections`.
  boost::intrusive_ptr<Connection> open(std::uint32_t max_connections);
  void put(boost::intrusive_ptr<Connection> connection, net::Time now);
  bool drop_one_idle();  // makes room under the cluster's connection limit
  void close_idle();

  router::FirstByteTimes first_bytes;  // of this endpoint, as this worker saw them

 private:
  friend class Connection;
  void forget(Connection& connection);  // an idle one ended
  void expire(Connection& connection);

  net::Loop& loop_;
  observe::Shard& shard_;
  std::shared_ptr<ClusterLoad> load_;
  conf::ClusterConfig::KeepAlive keep_alive_;
  std::vector<boost::intrusive_ptr<Connection>> idle_;  // most recent last
};

}  // namespace brink::upstream
