// Keeps names resolved: asks DNS again when an answer's time to live is over, so that a backend which moved (a
// container restarted, a record edited) is found without a reload. Follows /etc/hosts, search domains and resolv.conf,
// by c-ares.
//
// Threads: any may call. One thread of its own does all the work and runs the callbacks, which must be short and must
// not throw. Never on the data path.
//
// Bounds: at most max_addresses of an answer are used; one query at a time for a name; all tries of a query together
// take less than 10 s. A failure never takes addresses away: the last good ones stay until an answer replaces them.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brink::net {

class Resolver {
  class Engine;

 public:
  using Duration = std::chrono::milliseconds;
  using Addresses = std::vector<boost::asio::ip::tcp::endpoint>;  // in the order to be tried
  static constexpr std::size_t max_addresses = 64;

  struct Options {
    std::string servers;        // "host:port,..." instead of those of /etc/resolv.conf (and without its hosts file)
    Duration min_ttl{1'000};    // a TTL is taken as at least this ...
    Duration max_ttl{300'000};  // ... and at most this
    Duration hosts_interval{30'000};  // names of /etc/hosts have no TTL: looked up again after this
    Duration retry_min{1'000};        // after a failure; doubles with each up to ...
    Duration retry_max{30'000};
    Duration refresh_interval{1'000};  // refresh() of one name is heeded at most this often
  };

  struct Update {
    Addresses addresses;  // the last good ones, empty if there never were any
    std::string error;    // why the latest try failed, empty if it did not
  };
  using Callback = std::function<void(const Update&)>;

  // One name being kept resolved, until it is destroyed. Move-only. Destroying it waits for a callback that is running
  // (unless done from a callback), after that there are no more; so hold no lock that the callback takes.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept = default;
    Watch& operator=(Watch&& other) noexcept {
      if (this != &other) end();
      engine_ = std::move(other.engine_);
      id_ = other.id_;
      return *this;
    }
    ~Watch() { end(); }

   private:
    friend class Resolver;
    Watch(std::shared_ptr<Engine> engine, std::uint64_t id) : engine_(std::move(engine)), id_(id) {}
    void end();
    std::shared_ptr<Engine> engine_;  // null: watches nothing
    std::uint64_t id_ = 0;
  };

  Resolver();  // the system's settings; throws std::runtime_error if c-ares refuses them
  explicit Resolver(const Options& options);
  ~Resolver();  // stop()
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // `name` is a host name or a numeric address (never asked of DNS). Calls back as soon as there is an outcome, then
  // whenever the set of addresses or the error changes.
  [[nodiscard]] Watch watch(std::string name, std::uint16_t port, Callback callback);

  // Somebody failed to connect: resolve this name again now, whatever its TTL. No effect for names nobody watches.
  void refresh(std::string_view name);

  // Ends the thread; no callback runs afterwards. Idempotent; watches may outlive it. Not from a callback.
  void stop();

 private:
  std::shared_ptr<Engine> engine_;
};

}  // namespace brink::net
