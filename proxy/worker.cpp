#include "proxy/worker.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "proxy/observe/log.hpp"

namespace brink {

namespace {
constexpr auto tick_time = std::chrono::milliseconds(100);  // how long an access log line may stay in memory
}

Worker::Worker(Shared& shared, observe::Metrics& metrics, observe::AccessLog& log,
               upstream::WorkerState::RefreshAddresses refresh)
    : shared_(shared),
      shard_(metrics.add_shard()),
      log_(log),
      upstream_(loop_, shard_, std::move(refresh)),
      tiers_(shared.tiers, loop_, shard_),
      pipeline_(upstream_, tiers_, log_),
      service_(loop_, pipeline_,
               [this] {
                 shard_.connection_closed();
                 shared_.connections.fetch_sub(1, std::memory_order_relaxed);
               }),
      ticker_([](void* self) { static_cast<Worker*>(self)->tick(); }, this) {}

Worker::~Worker() { join(); }

template <class Task>
void Worker::post(Task task) {
  boost::asio::post(loop_.context, std::move(task));
}

void Worker::run() {
  thread_ = std::thread([this] {
    const auto guard = boost::asio::make_work_guard(loop_.context);
    tick();
    loop_.context.run();
    // Operations cut off by stop() still hold connections: let them go while everything they use exists.
    loop_.context.restart();
    loop_.context.poll();
    log_.flush();
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::tick() {
  log_.flush();
  shard_.set(observe::Gauge::buffer_pool_bytes, loop_.buffers.bytes_lent());
  ticker_.set(loop_.wheel, net::Clock::now() + tick_time);
}

std::shared_ptr<net::Listener> Worker::bind(const net::Listener::Tcp::endpoint& address) {
  return std::make_shared<net::Listener>(
      loop_, address,
      [this](net::Socket::Native&& socket, std::string peer) { accept(std::move(socket), std::move(peer)); },
      [this](boost::system::error_code error) {
        shard_.add(observe::Counter::accept_errors);
        static observe::LogLimit limit;
        observe::log_error(limit, "cannot accept connections: " + error.message());
      });
}

void Worker::accept(net::Socket::Native&& socket, std::string peer) {
  if (shared_.connections.fetch_add(1, std::memory_order_relaxed) >=
      shared_.max_connections.load(std::memory_order_relaxed)) {
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
    shard_.add(observe::Counter::accept_rejected);
    return;
  }
  shard_.connection_opened();
  service_.accept(std::move(socket), std::move(peer), true);
}

void Worker::use(std::shared_ptr<const upstream::Snapshot> snapshot) {
  post([this, snapshot = std::move(snapshot)]() mutable {
    service_.configure(snapshot->config->downstream);
    tiers_.configure(snapshot->config->cache);
    upstream_.use(std::move(snapshot));
  });
}

void Worker::listen(std::string key, std::shared_ptr<net::Listener> listener) {
  post([this, key = std::move(key), listener = std::move(listener)]() mutable {
    listener->start();
    listeners_.emplace(std::move(key), std::move(listener));
  });
}

void Worker::unlisten(std::string key) {
  post([this, key = std::move(key)] {
    const auto found = listeners_.find(key);
    if (found == listeners_.end()) return;
    found->second->stop();
    listeners_.erase(found);
  });
}

void Worker::drain() {
  post([this] {
    for (auto& [key, listener] : listeners_) listener->stop();
    listeners_.clear();
    service_.drain();
  });
}

void Worker::stop() {
  post([this] {
    for (auto& [key, listener] : listeners_) listener->stop();
    listeners_.clear();
    service_.close_all();
    tiers_.close();
    upstream_.close_idle();
    loop_.context.stop();
  });
}

}  // namespace brink
