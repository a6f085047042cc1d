// One worker: a thread, its event loop and everything that lives on it. Built and destroyed by the control thread while
// the worker's own thread does not run; in between the control thread only posts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "proxy/cached/tiers.hpp"
#include "proxy/downstream/service.hpp"
#include "proxy/net/listener.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/pipeline.hpp"
#include "proxy/upstream/worker_state.hpp"

namespace brink {

// What workers share besides configuration and metrics.
struct Shared {
  std::atomic<std::uint32_t> connections{0};      // open client connections
  std::atomic<std::uint32_t> max_connections{0};  // downstream.limits.connections
  cached::Tiers tiers;
};

class Worker {
 public:
  Worker(Shared& shared, observe::Metrics& metrics, observe::AccessLog& log,
         upstream::WorkerState::RefreshAddresses refresh);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run();  // starts the thread
  // From the control thread; each takes effect on the worker's thread, in order.
  void use(std::shared_ptr<const upstream::Snapshot> snapshot);
  void listen(std::string key, std::shared_ptr<net::Listener> listener);
  void unlisten(std::string key);
  void drain();
  void stop();  // closes everything and ends the thread; join() waits
  void join();

  // Binds; the listener is given to listen() once every worker has its own.
  std::shared_ptr<net::Listener> bind(const net::Listener::Tcp::endpoint& address);

 private:
  template <class Task>
  void post(Task task);
  void accept(net::Socket::Native&& socket, std::string peer);
  void tick();

  Shared& shared_;
  observe::Shard& shard_;
  net::Loop loop_;
  observe::AccessLogBuffer log_;
  upstream::WorkerState upstream_;
  cached::WorkerTiers tiers_;
  Pipeline pipeline_;
  downstream::Service service_;
  std::map<std::string, std::shared_ptr<net::Listener>> listeners_;
  net::Timer ticker_;
  std::thread thread_;
};

}  // namespace brink
