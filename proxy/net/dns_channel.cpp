#include "proxy/net/dns_channel.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace brink::net {
namespace {

namespace ip = boost::asio::ip;

[[noreturn]] void refuse(const std::string& what, int status) {
  throw std::runtime_error("DNS: " + what + ": " + ares_strerror(status));
}

// `sources` are c-ares lookups: f for the hosts file, b for DNS.
ares_channel open_channel(const char* sources) {
  static std::once_flag once;
  std::call_once(once, [] {
    if (const int status = ares_library_init(ARES_LIB_INIT_ALL); status != ARES_SUCCESS) refuse("c-ares", status);
  });
  std::string lookups = sources;
  ares_options options{};
  options.timeout = 2'000;
  options.tries = 2;
  options.lookups = lookups.data();
  ares_channel channel = nullptr;
  const int status = ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS);
  if (status != ARES_SUCCESS) refuse("cannot read the system's resolver settings", status);
  return channel;
}

timespec resolv_conf_time() {
  struct stat status {};
  return ::stat("/etc/resolv.conf", &status) == 0 ? status.st_mtim : timespec{};
}

// Link-local addresses keep their scope; other families than IP do not occur.
ip::address address_of(const sockaddr& from) {
  if (from.sa_family == AF_INET) {
    return ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in&>(from).sin_addr.s_addr));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  ip::address_v6::bytes_type bytes;
  std::copy_n(v6.sin6_addr.s6_addr, bytes.size(), bytes.begin());
  return ip::address_v6(bytes, v6.sin6_scope_id);
}

DnsAnswer read_answer(int status, const ares_addrinfo* result) {
  DnsAnswer answer;
  if (status != ARES_SUCCESS) {
    answer.error = ares_strerror(status);
    return answer;
  }
  int ttl = std::numeric_limits<int>::max();
  for (const auto* alias = result->cnames; alias != nullptr; alias = alias->next) ttl = std::min(ttl, alias->ttl);
  for (const auto* node = result->nodes; node != nullptr; node = node->ai_next) {
    const ip::address address = address_of(*node->ai_addr);
    const auto& known = answer.addresses;
    if (std::find(known.begin(), known.end(), address) == known.end()) answer.addresses.push_back(address);
    ttl = std::min(ttl, node->ai_ttl);
  }
  answer.ttl = std::chrono::seconds(std::max(0, ttl));
  if (answer.addresses.empty()) answer.error = "the name has no address";
  return answer;
}

void start(ares_channel channel, const std::string& name, ares_addrinfo_callback done, void* query) {
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel, name.c_str(), nullptr, &hints, done, query);
}

}  // namespace

struct DnsChannel::Query {
  DnsChannel& channel;
  std::string name;
  Done done;
};

DnsChannel::DnsChannel(const std::string& servers) : system_servers_(servers.empty()), configured_(resolv_conf_time()) {
  dns_ = open_channel("b");
  if (!system_servers_) {
    const int status = ares_set_servers_ports_csv(dns_, servers.c_str());
    if (status == ARES_SUCCESS) return;
    ares_destroy(dns_);
    refuse("the list of servers \"" + servers + "\"", status);
  }
  try {
    hosts_ = open_channel("f");
  } catch (...) {
    ares_destroy(dns_);
    throw;
  }
}

DnsChannel::~DnsChannel() {
  ending_ = true;
  ares_destroy(dns_);  // ends each query with its callback, which frees it
  if (hosts_ != nullptr) ares_destroy(hosts_);
}

bool DnsChannel::outdated() const {
  const timespec now = resolv_conf_time();
  return system_servers_ && (now.tv_sec != configured_.tv_sec || now.tv_nsec != configured_.tv_nsec);
}

void DnsChannel::ask(const std::string& name, Done done) {
  auto* query = new Query{*this, name, std::move(done)};
  ++pending_;
  if (hosts_ == nullptr) return ask_dns(query);
  start(hosts_, query->name, &on_hosts, query);
}

void DnsChannel::ask_dns(Query* query) { start(dns_, query->name, &on_dns, query); }

void DnsChannel::on_hosts(void* context, int status, int /*timeouts*/, ares_addrinfo* result) {
  const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owner(result, &ares_freeaddrinfo);
  auto* query = static_cast<Query*>(context);
  DnsAnswer answer = read_answer(status, result);
  if (!answer.error.empty() && !query->channel.ending_) return query->channel.ask_dns(query);
  answer.from_hosts = true;
  query->channel.finish(query, answer);
}

void DnsChannel::on_dns(void* context, int status, int /*timeouts*/, ares_addrinfo* result) {
  const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owner(result, &ares_freeaddrinfo);
  auto* query = static_cast<Query*>(context);
  query->channel.finish(query, read_answer(status, result));
}

void DnsChannel::finish(Query* query, const DnsAnswer& answer) {
  const std::unique_ptr<Query> owner(query);
  --pending_;
  if (!ending_) query->done(answer);
}

void DnsChannel::process(int wake_fd, std::chrono::milliseconds limit) {
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  const auto bits = static_cast<unsigned>(ares_getsock(dns_, sockets.data(), sockets.size()));
  std::array<pollfd, ARES_GETSOCK_MAXNUM + 1> polled{};
  std::size_t count = 0;
  for (unsigned i = 0; i < sockets.size(); ++i) {
    const bool read = ARES_GETSOCK_READABLE(bits, i), write = ARES_GETSOCK_WRITABLE(bits, i);
    if (!read && !write) break;
    polled[count++] = {sockets[i], static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0)), 0};
  }
  polled[count] = {wake_fd, POLLIN, 0};

  timeval most{limit.count() / 1000, limit.count() % 1000 * 1000}, wait{};
  const timeval* until = ares_timeout(dns_, &most, &wait);
  const auto ms = until->tv_sec * 1000 + (until->tv_usec + 999) / 1000;
  ::poll(polled.data(), count + 1, static_cast<int>(ms));

  for (std::size_t i = 0; i < count; ++i) {
    const bool failed = (polled[i].revents & (POLLERR | POLLHUP)) != 0;  // found by reading
    const ares_socket_t readable = failed || (polled[i].revents & POLLIN) != 0 ? polled[i].fd : ARES_SOCKET_BAD;
    const ares_socket_t writable = (polled[i].revents & POLLOUT) != 0 ? polled[i].fd : ARES_SOCKET_BAD;
    if (readable != ARES_SOCKET_BAD || writable != ARES_SOCKET_BAD) ares_process_fd(dns_, readable, writable);
  }
  ares_process_fd(dns_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what took too long
}

}  // namespace brink::net
