// A DNS server on loopback that knows a few names: enough of RFC 1035 to answer A queries over UDP. Its own thread.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace brink::testing {

class DnsServer {
 public:
  enum class Mode { answers, refuses, silent };

  DnsServer() {
    fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (fd_ < 0 || ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || ::pipe(stop_) != 0) {
      throw std::runtime_error("the test's DNS server cannot listen");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~DnsServer() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
    ::close(fd_);
  }

  const std::string& address() const { return address_; }
  void set(const std::string& name, std::vector<std::string> addresses, std::uint32_t ttl) {
    const std::lock_guard lock(mutex_);
    records_[name] = {std::move(addresses), ttl};
  }
  void set_mode(Mode mode) {
    const std::lock_guard lock(mutex_);
    mode_ = mode;
  }
  int asked(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return asked_[name];
  }
  // Returns once the name's A record was asked for that often.
  bool wait_asked(const std::string& name, int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return asked_[name] >= times; });
  }

 private:
  struct Record {
    std::vector<std::string> addresses;
    std::uint32_t ttl = 0;
  };

  void run() {
    for (;;) {
      pollfd polled[] = {{fd_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
      ::poll(polled, 2, -1);
      if (polled[1].revents != 0) return;
      char query[512];
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t length = ::recvfrom(fd_, query, sizeof query, 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (length < 17) continue;
      const std::string reply = answer({query, static_cast<std::size_t>(length)});
      if (!reply.empty()) ::sendto(fd_, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
  }

  // RFC 1035 section 4.1. The question's name begins after the 12 bytes of the header.
  std::string answer(std::string_view query) {
    std::string name;
    std::size_t at = 12;
    while (query.at(at) != 0) {
      const auto label = static_cast<std::size_t>(query[at]);
      name += (name.empty() ? "" : ".") + std::string(query.substr(at + 1, label));
      at += label + 1;
    }
    const bool a_record = query.at(at + 2) == 1;
    const std::lock_guard lock(mutex_);
    if (a_record) ++asked_[name];
    changed_.notify_all();
    if (mode_ == Mode::silent) return {};
    const auto found = records_.find(name);
    const bool known = found != records_.end();
    const char code = mode_ == Mode::refuses ? 2 : known ? 0 : 3;  // SERVFAIL, NOERROR, NXDOMAIN
    const auto count = code == 0 && a_record ? found->second.addresses.size() : 0;
    std::string reply(query.substr(0, 2));
    reply += {'\x84', code, 0, 1, 0, static_cast<char>(count), 0, 0, 0, 0};
    reply += query.substr(12, at + 5 - 12);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t ttl = htonl(found->second.ttl);
      in_addr address{};
      ::inet_pton(AF_INET, found->second.addresses[i].c_str(), &address);
      reply += {'\xc0', 12, 0, 1, 0, 1};  // the question's name, A, IN
      reply.append(reinterpret_cast<const char*>(&ttl), 4);
      reply += {0, 4};
      reply.append(reinterpret_cast<const char*>(&address), 4);
    }
    return reply;
  }

  int fd_ = -1;
  int stop_[2] = {-1, -1};
  std::string address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Record> records_;
  std::map<std::string, int> asked_;
  Mode mode_ = Mode::answers;
  std::thread thread_;
};

}  // namespace brink::testing
