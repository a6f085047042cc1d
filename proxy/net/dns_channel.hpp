// Asks for the addresses of a name: /etc/hosts first, then DNS with search domains, by c-ares. Knows nothing of when to
// ask again; Resolver decides that. All of it, callbacks included, happens on the thread that calls.
#pragma once

#include <ares.h>

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace brink::net {

struct DnsAnswer {
  std::vector<boost::asio::ip::address> addresses;  // each once, in the order to be tried; empty with an error
  std::chrono::seconds ttl{0};                      // the least of the records; 0 for the hosts file
  bool from_hosts = false;
  std::string error;
};

class DnsChannel {
 public:
  using Done = std::function<void(const DnsAnswer&)>;

  // `servers` as "host:port,..." replaces those of /etc/resolv.conf and turns the hosts file off; empty: the system's.
  // Throws std::runtime_error.
  explicit DnsChannel(const std::string& servers);
  ~DnsChannel();  // what is still asked is never answered
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  // `done` runs from within this call or a later process(). A server has 2 s to answer, each is tried twice.
  void ask(const std::string& name, Done done);
  std::size_t pending() const { return pending_; }

  // Waits for answers until `limit` is over or `wake_fd` is readable, and deals with what arrived.
  void process(int wake_fd, std::chrono::milliseconds limit);

  // /etc/resolv.conf changed since this channel read it, so that a new one would know better.
  bool outdated() const;

 private:
  struct Query;
  static void on_hosts(void* query, int status, int timeouts, ares_addrinfo* result);
  static void on_dns(void* query, int status, int timeouts, ares_addrinfo* result);
  void ask_dns(Query* query);
  void finish(Query* query, const DnsAnswer& answer);

  ares_channel hosts_ = nullptr;  // reads the hosts file only; null: not to be read
  ares_channel dns_ = nullptr;
  const bool system_servers_;
  timespec configured_{};
  std::size_t pending_ = 0;
  bool ending_ = false;
};

}  // namespace brink::net
