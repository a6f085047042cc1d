// The few socket calls that the benchmark's origin and load programs share. Both are one thread over plain epoll, so
// that they cost little beside the proxy that is measured, and share no code with it. Loopback only.
//
// Errors throw std::system_error that says which call failed: without its sockets a measuring program has nothing to
// do.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace brink::bench {

inline constexpr std::size_t read_buffer_bytes = 262'144;

// A file descriptor with one owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release();
  void close();

 private:
  int fd_ = -1;
};

// Edge-triggered readiness of many sockets. `tag` comes back with each event.
//
// `spin`: never sleep, yield the CPU instead. A send over loopback wakes a sleeping receiver, and the sender pays for
// it: up to half of what a small request costs in a virtual machine, and only when the receiver happens to be the
// faster side. A network card charges nothing like it, so the measured proxy must not be charged either.
class Epoll {
 public:
  explicit Epoll(bool spin);
  void watch(int fd, std::uint32_t events, std::uint64_t tag);
  // Waits until something is ready or `timeout_ns` has passed (negative: no limit); the events live until the next
  // call.
  std::span<epoll_event> wait(std::int64_t timeout_ns);

 private:
  Fd fd_;
  bool spin_;
  epoll_event events_[512];
};

// Nanoseconds of the monotonic clock.
std::int64_t now_ns();

// Allows this process `needed` open files. Throws when the hard limit is below it.
void allow_open_files(std::size_t needed);

// A non-blocking listener on 127.0.0.1; port 0 lets the system choose.
Fd listen_on_loopback(std::uint16_t port);
std::uint16_t bound_port(const Fd& socket);

// The next waiting connection, non-blocking, with TCP_NODELAY; closed when none waits.
Fd accept_from(const Fd& listener);

// A connection to 127.0.0.1:port, non-blocking, with TCP_NODELAY, perhaps still being made.
Fd connect_to_loopback(std::uint16_t port);

}  // namespace brink::bench
