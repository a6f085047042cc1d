#include "tests/bench/net.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace brink::bench {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void set_option(const Fd& socket, int level, int name, const char* what) {
  const int on = 1;
  if (setsockopt(socket.get(), level, name, &on, sizeof on) != 0) fail(what);
}

Fd tcp_socket() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) fail("socket");
  return socket;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() { return std::exchange(fd_, -1); }

void Fd::close() {
  if (fd_ >= 0) ::close(release());
}

Epoll::Epoll(bool spin) : fd_(epoll_create1(EPOLL_CLOEXEC)), spin_(spin) {
  if (!fd_.is_open()) fail("epoll_create1");
}

void Epoll::watch(int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

std::span<epoll_event> Epoll::wait(std::int64_t timeout_ns) {
  if (spin_) timeout_ns = 0;
  const timespec timeout{timeout_ns / second_ns, timeout_ns % second_ns};
  const int count = epoll_pwait2(fd_.get(), events_, static_cast<int>(std::size(events_)),
                                 timeout_ns < 0 ? nullptr : &timeout, nullptr);
  if (count < 0 && errno != EINTR) fail("epoll_pwait2");
  if (spin_ && count == 0) sched_yield();
  return {events_, count < 0 ? 0 : static_cast<std::size_t>(count)};
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * second_ns + now.tv_nsec;
}

void allow_open_files(std::size_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
  if (limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed) {
    throw std::runtime_error("the limit of open files is " + std::to_string(limit.rlim_max) + ", " +
                             std::to_string(needed) +
                             " are needed: raise it with ulimit -n, or ask for fewer connections");
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
}

Fd listen_on_loopback(std::uint16_t port) {
  Fd socket = tcp_socket();
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR");
  const sockaddr_in address = loopback(port);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("bind to 127.0.0.1:" + std::to_string(port));
  }
  if (listen(socket.get(), SOMAXCONN) != 0) fail("listen");
  return socket;
}

std::uint16_t bound_port(const Fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  return ntohs(address.sin_port);
}

Fd accept_from(const Fd& listener) {
  Fd socket(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY");
  } else if (errno != EAGAIN && errno != ECONNABORTED) {
    fail("accept4");
  }
  return socket;
}

Fd connect_to_loopback(std::uint16_t port) {
  Fd socket = tcp_socket();
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY");
  const sockaddr_in address = loopback(port);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS) {
    fail("connect to 127.0.0.1:" + std::to_string(port));
  }
  return socket;
}

}  // namespace brink::bench
