#include "proxy/server.hpp"

#include <sched.h>
#include <csignal>

#include <algorithm>
#include <system_error>

#include "conf/load.hpp"
#include "proxy/admin/answer.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/version.hpp"

namespace brink {

namespace asio = boost::asio;
using Tcp = net::Listener::Tcp;

namespace {

constexpr auto first_names_patience = std::chrono::milliseconds(3000);
constexpr auto reload_names_patience = std::chrono::milliseconds(500);
constexpr auto drain_check = std::chrono::milliseconds(20);
constexpr std::uint32_t admin_connections = 64;

// `auto`: as many as CPUs this process may run on.
unsigned worker_count(const conf::Config& config) {
  if (config.node.workers > 0) return config.node.workers;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cpus)));
}

Tcp::endpoint endpoint_of(const std::string& host, std::uint16_t port) { return {asio::ip::make_address(host), port}; }

std::string text_of(const Tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

// Blocks the signals for this thread and all that it will start; they come from the descriptor instead.
int open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  const int failed = ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = failed == 0 ? ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
  if (descriptor < 0) throw std::system_error(failed != 0 ? failed : errno, std::generic_category(), "signals");
  return descriptor;
}

}  // namespace

// Answers the admin listener's requests; they are neither counted nor logged.
class Server::AdminHandler final : public http::Handler {
 public:
  explicit AdminHandler(const admin::Admin& admin) : admin_(admin) {}
  void handle(http::Client& client) override { admin::answer(admin_, client); }
  void finished(http::Exchange&) override {}

 private:
  const admin::Admin& admin_;
};

Server::Server(std::vector<std::string> files)
    : files_(std::move(files)),
      signals_(control_.context, open_signals()),
      shard_(metrics_.add_shard()),
      builder_(metrics_),
      health_(control_, shard_,
              [](std::string_view line, bool healthy) { healthy ? observe::log_info(line) : observe::log_warn(line); }),
      drain_timer_(control_.context) {}

Server::~Server() {
  for (const auto& worker : workers_) worker->stop();
  for (const auto& worker : workers_) worker->join();
}

int Server::run() {
  conf::LoadResult loaded = conf::load(files_);
  if (!loaded.config) {
    std::vector<std::string> problems;
    for (const conf::Problem& problem : loaded.problems) problems.push_back(conf::to_string(problem));
    report(problems, false);
    return 2;
  }
  if (!start(loaded.config)) return 1;
  handle_signals();
  observe::log_info("ready");
  control_.context.run();
  stop();
  return 0;
}

bool Server::start(std::shared_ptr<const conf::Config> config) {
  try {
    log_ = std::make_unique<observe::AccessLog>(config->access_log.file);
  } catch (const std::system_error& error) {
    observe::log_error(std::string("access_log: ") + error.what());
    return false;
  }
  for (unsigned i = worker_count(*config); i > 0; --i) {
    workers_.push_back(std::make_unique<Worker>(shared_, metrics_, *log_,
                                                [this](const std::string& host) { builder_.refresh(host); }));
  }
  ListenerKeys wanted;
  for (const auto& listener : config->listeners) {
    wanted.emplace(listener.host + " " + std::to_string(listener.port), endpoint_of(listener.host, listener.port));
  }
  std::map<std::string, Listening> bound;
  std::string problem;
  if (!bind_new(wanted, bound, problem)) {
    observe::log_error(problem);
    return false;
  }
  try {
    config = with_local_model(std::move(config));
  } catch (const std::system_error& error) {
    observe::log_error(std::string("local_model: ") + error.what());
    return false;
  }
  apply(builder_.build(config, first_names_patience), std::move(bound), wanted);
  metrics_.reloaded(true);
  try {
    start_admin();
  } catch (const boost::system::system_error& error) {
    observe::log_error("admin: cannot listen on " + config->admin.host + ":" + std::to_string(config->admin.port) +
                       ": " + error.code().message());
    return false;
  }
  for (const auto& worker : workers_) worker->run();
  return true;
}

void Server::start_admin() {
  const conf::AdminConfig& config = snapshot_->config->admin;
  admin_ = std::make_unique<admin::Admin>(admin_sources());
  admin_handler_ = std::make_unique<AdminHandler>(*admin_);
  admin_service_ = std::make_unique<downstream::Service>(control_, *admin_handler_, [] {});
  admin_service_->configure({});
  admin_listener_ = std::make_shared<net::Listener>(
      control_, endpoint_of(config.host, config.port),
      [this](net::Socket::Native&& socket, std::string peer) {
        if (admin_service_->connections() >= admin_connections) return;
        admin_service_->accept(std::move(socket), std::move(peer), true);
      },
      [](boost::system::error_code error) {
        static observe::LogLimit limit;
        observe::log_error(limit, "admin: cannot accept connections: " + error.message());
      });
  admin_listener_->start();
  observe::log_info("admin on " + text_of(admin_listener_->local_address()));
}

bool Server::bind_new(const ListenerKeys& wanted, std::map<std::string, Listening>& bound, std::string& problem) {
  for (const auto& [key, address] : wanted) {
    if (listening_.contains(key)) continue;
    Tcp::endpoint actual = address;
    try {
      for (const auto& worker : workers_) {
        bound[key].bound.push_back(worker->bind(actual));
        actual = bound[key].bound.front()->local_address();  // port 0: all workers share what the system chose
      }
    } catch (const boost::system::system_error& error) {
      problem = "cannot listen on " + text_of(address) + ": " + error.code().message();
      return false;
    }
  }
  return true;
}

void Server::apply(std::shared_ptr<const upstream::Snapshot> snapshot, std::map<std::string, Listening> bound,
                   const ListenerKeys& wanted) {
  snapshot_ = std::move(snapshot);
  shared_.max_connections.store(snapshot_->config->downstream.limits.connections, std::memory_order_relaxed);
  metrics_.set_config_generation(snapshot_->generation);
  shared_.tiers.configure(snapshot_->config->cache);
  use_redis(snapshot_->config->cache);
  health_.use(snapshot_);
  for (const auto& worker : workers_) worker->use(snapshot_);
  for (auto& [key, listening] : bound) {
    observe::log_info("listening on " + text_of(listening.bound.front()->local_address()));
    for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->listen(key, std::move(listening.bound[i]));
  }
  for (const auto& [key, address] : listening_) {
    if (wanted.contains(key)) continue;
    observe::log_info("no longer listening on " + text_of(address));
    for (const auto& worker : workers_) worker->unlisten(key);
  }
  listening_ = wanted;
}

std::shared_ptr<const conf::Config> Server::with_local_model(std::shared_ptr<const conf::Config> config) {
  if (config->local_model != local_model_config_) {
    local_model_.reset();
    local_model_config_ = config->local_model;
    if (local_model_config_ && local_model_config_->url.empty()) {
      local_model_ = std::make_unique<LocalModel>(control_.context, *local_model_config_);
    }
  }
  if (!config->local_model) return config;
  auto extended = std::make_shared<conf::Config>(*config);
  extended->clusters.push_back(
      LocalModel::cluster(*config->local_model, local_model_ ? local_model_->socket() : std::string()));
  return extended;
}

void Server::use_redis(const conf::CacheTiersConfig& config) {
  if (!shared_.tiers.announce) {
    shared_.tiers.announce = [this](const cache::PurgeNotice& notice) {
      asio::post(control_.context, [this, notice] {
        if (purges_) purges_->announce(notice);
      });
    };
  }
  if (config.redis == redis_) return;
  redis_ = config.redis;
  purges_.reset();
  if (redis_) purges_ = std::make_unique<cached::PurgeChannel>(control_.context, shared_.tiers, *redis_);
}

admin::ReloadOutcome Server::reload() {
  admin::ReloadOutcome outcome;
  if (draining_) {
    outcome.problems.emplace_back("draining: the configuration is not reloaded any more");
    return outcome;
  }
  conf::LoadResult loaded = conf::load(files_);
  for (const conf::Problem& problem : loaded.problems) outcome.problems.push_back(conf::to_string(problem));
  ListenerKeys wanted;
  std::map<std::string, Listening> bound;
  if (loaded.config) {
    for (const auto& listener : loaded.config->listeners) {
      wanted.emplace(listener.host + " " + std::to_string(listener.port), endpoint_of(listener.host, listener.port));
    }
    std::string problem;
    if (!bind_new(wanted, bound, problem)) outcome.problems.push_back(problem);
  }
  if (outcome.problems.empty() && loaded.config->access_log.file != snapshot_->config->access_log.file) {
    try {
      log_->open(loaded.config->access_log.file);
    } catch (const std::system_error& error) {
      outcome.problems.push_back(std::string("access_log: ") + error.what());
    }
  }
  std::shared_ptr<const conf::Config> next;
  if (outcome.problems.empty()) {
    try {
      next = with_local_model(loaded.config);
    } catch (const std::system_error& error) {
      outcome.problems.push_back(std::string("local_model: ") + error.what());
    }
  }
  outcome.ok = outcome.problems.empty();
  metrics_.reloaded(outcome.ok);
  if (!outcome.ok) {
    report(outcome.problems, true);
    return outcome;
  }
  warn_about_restart(*loaded.config);
  apply(builder_.build(next, reload_names_patience), std::move(bound), wanted);
  observe::log_info("configuration reloaded, generation " + std::to_string(snapshot_->generation));
  return outcome;
}

void Server::warn_about_restart(const conf::Config& next) const {
  const conf::Config& now = *snapshot_->config;
  if (worker_count(next) != workers_.size()) observe::log_warn("node.workers takes effect at the next start");
  if (next.admin.host != now.admin.host || next.admin.port != now.admin.port) {
    observe::log_warn("admin.address takes effect at the next start");
  }
}

void Server::report(const std::vector<std::string>& problems, bool kept) {
  for (const std::string& problem : problems) observe::log_error(problem);
  observe::log_error(std::to_string(problems.size()) + (problems.size() == 1 ? " problem" : " problems") +
                     (kept ? ": the configuration in use stays" : ": not started"));
}

void Server::handle_signals() {
  signals_.async_read_some(asio::buffer(&signal_, sizeof signal_),
                           [this](boost::system::error_code error, std::size_t size) {
                             if (error) return;
                             if (size == sizeof signal_) handle(static_cast<int>(signal_.ssi_signo));
                             handle_signals();
                           });
}

void Server::handle(int signal) {
  if (signal == SIGHUP) {
    reload();
  } else if (signal == SIGUSR1) {
    try {
      log_->reopen();
      observe::log_info("access log reopened");
    } catch (const std::system_error& failure) {
      observe::log_error(std::string("access_log: ") + failure.what());
    }
  } else if (draining_) {
    observe::log_warn("stopping at once");
    control_.context.stop();
  } else {
    drain();
  }
}

void Server::drain() {
  if (draining_) return;
  draining_ = true;
  observe::log_info("draining: " + std::to_string(shared_.connections.load()) + " connections open");
  drain_deadline_ = net::Clock::now() + snapshot_->config->node.drain_timeout;
  for (const auto& worker : workers_) worker->drain();
  check_drained();
}

void Server::check_drained() {
  drain_timer_.expires_after(drain_check);
  drain_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    const std::uint32_t open = shared_.connections.load(std::memory_order_relaxed);
    if (open > 0 && net::Clock::now() < drain_deadline_) return check_drained();
    if (open > 0) observe::log_warn("drain_timeout: closing " + std::to_string(open) + " connections");
    if (open == 0) observe::log_info("drained");
    control_.context.stop();
  });
}

void Server::stop() {
  for (const auto& worker : workers_) worker->stop();
  for (const auto& worker : workers_) worker->join();
  workers_.clear();
  health_.stop();
  purges_.reset();
  local_model_.reset();
  if (admin_listener_) admin_listener_->stop();
  if (admin_service_) admin_service_->close_all();
  control_.context.restart();
  control_.context.poll();
  log_->stop();
}

std::vector<observe::ScrapeInput::Endpoint> Server::scraped_endpoints() const {
  std::vector<observe::ScrapeInput::Endpoint> result;
  for (const upstream::Cluster& cluster : snapshot_->clusters) {
    for (const upstream::Endpoint& endpoint : cluster.endpoints) {
      result.push_back({cluster.config->name, endpoint.state.get()});
    }
  }
  return result;
}

observe::CacheNumbers Server::cache_numbers() const {
  const cached::Tiers& tiers = shared_.tiers;
  return {tiers.memory.stats(), snapshot_->config->cache.memory, tiers.flights.size(), tiers.flights.budget.taken(),
          tiers.purges.records()};
}

admin::CacheView Server::cache_view() const {
  using observe::Counter;
  return {cache_numbers(),
          metrics_.cache_requests(),
          shared_.tiers.purges_known.load(std::memory_order_relaxed),
          metrics_.total(Counter::redis_hits),
          metrics_.total(Counter::redis_misses),
          metrics_.total(Counter::redis_errors),
          metrics_.total(Counter::redis_timeouts),
          metrics_.total(Counter::redis_unreadable)};
}

admin::Sources Server::admin_sources() {
  admin::Sources sources;
  sources.config = [this] { return snapshot_->config; };
  sources.endpoints = [this] {
    std::vector<admin::EndpointView> result;
    for (const upstream::Cluster& cluster : snapshot_->clusters) {
      for (const upstream::Endpoint& endpoint : cluster.endpoints) {
        result.push_back({cluster.config->name, endpoint.config->weight, endpoint.state});
      }
    }
    return result;
  };
  sources.ready = [this] { return draining_ ? admin::Readiness{false, "draining"} : admin::Readiness{true, {}}; };
  sources.reload = [this] { return reload(); };
  sources.drain = [this] { drain(); };
  sources.metrics = [this] {
    const auto endpoints = scraped_endpoints();
    return metrics_.text({endpoints, log_->dropped(), version, !draining_, cache_numbers()});
  };
  sources.route_requests = [this](std::string_view route) { return metrics_.route_requests(route); };
  sources.cache = [this] { return cache_view(); };
  sources.purge = [this](const cache::Purge& what, bool soft) {
    const cache::PurgeNotice notice{what, soft, cached::wall_now()};
    const std::size_t purged = shared_.tiers.purge(what, soft, notice.at, notice.at);
    if (shared_.tiers.announce) shared_.tiers.announce(notice);
    return purged;
  };
  return sources;
}

}  // namespace brink
