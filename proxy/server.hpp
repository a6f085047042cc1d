// The process: workers, the admin listener, health checks, signals, reload and drain. Everything in here runs on the
// control thread, which is the one that calls run().
#pragma once

#include <sys/signalfd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/admin/admin.hpp"
#include "proxy/cached/purge_channel.hpp"
#include "proxy/local_model.hpp"
#include "proxy/snapshot_builder.hpp"
#include "proxy/upstream/health.hpp"
#include "proxy/worker.hpp"

namespace brink {

class Server {
 public:
  explicit Server(std::vector<std::string> files);
  ~Server();

  // Serves until drained. The exit status: 0 fine, 1 failed while running, 2 the configuration is wrong.
  int run();

 private:
  class AdminHandler;
  struct Listening {
    std::vector<std::shared_ptr<net::Listener>> bound;  // one a worker
  };
  using ListenerKeys = std::map<std::string, net::Listener::Tcp::endpoint>;  // "host:port" as configured

  bool start(std::shared_ptr<const conf::Config> config);
  void start_admin();
  void handle_signals();
  void handle(int signal);
  admin::ReloadOutcome reload();
  void report(const std::vector<std::string>& problems, bool kept);
  // Binds what is new; on failure nothing is bound and the problem is named.
  bool bind_new(const ListenerKeys& wanted, std::map<std::string, Listening>& bound, std::string& problem);
  void apply(std::shared_ptr<const upstream::Snapshot> snapshot, std::map<std::string, Listening> bound,
             const ListenerKeys& wanted);
  void warn_about_restart(const conf::Config& next) const;
  void use_redis(const conf::CacheTiersConfig& config);
  // Starts, keeps or ends the local model's process, and gives the configuration with its cluster in it. Throws
  // std::system_error.
  std::shared_ptr<const conf::Config> with_local_model(std::shared_ptr<const conf::Config> config);
  void drain();
  void check_drained();
  void stop();
  admin::Sources admin_sources();
  observe::CacheNumbers cache_numbers() const;
  admin::CacheView cache_view() const;
  std::vector<observe::ScrapeInput::Endpoint> scraped_endpoints() const;

  const std::vector<std::string> files_;
  observe::Metrics metrics_;
  Shared shared_;
  net::Loop control_;
  // A signalfd. Before the members that start threads, which inherit the mask: no thread is ever interrupted.
  boost::asio::posix::stream_descriptor signals_;
  signalfd_siginfo signal_{};
  observe::Shard& shard_;  // the control thread's own
  std::unique_ptr<observe::AccessLog> log_;
  SnapshotBuilder builder_;
  std::shared_ptr<const upstream::Snapshot> snapshot_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ListenerKeys listening_;
  upstream::HealthChecker health_;
  std::unique_ptr<LocalModel> local_model_;
  std::optional<conf::LocalModelConfig> local_model_config_;  // of `local_model_`
  std::unique_ptr<cached::PurgeChannel> purges_;
  std::optional<conf::RedisConfig> redis_;  // of `purges_`
  boost::asio::steady_timer drain_timer_;
  net::Time drain_deadline_{};
  std::unique_ptr<admin::Admin> admin_;
  std::unique_ptr<AdminHandler> admin_handler_;
  std::unique_ptr<downstream::Service> admin_service_;
  std::shared_ptr<net::Listener> admin_listener_;
  bool draining_ = false;
};

}  // namespace brink
