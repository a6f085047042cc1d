// bench-origin: the HTTP/1.1 server behind the measured proxies. One thread, plain epoll, answers made at start-up;
// keep-alive and pipelined requests. It understands what a proxy sends it and refuses the rest (400, 404, 411) with a
// close.
//
//   bench-origin [--spin] [PORT]   # 127.0.0.1; 0 or none: the system chooses; prints `listening on 127.0.0.1:PORT`
//
// Ends on SIGTERM or SIGINT, or with status 1 when a system call fails, 2 on bad usage.
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/net.hpp"
#include "tests/bench/script.hpp"

namespace brink::bench {
namespace {

constexpr std::size_t max_head_bytes = 65'536;
constexpr std::size_t max_connections = 16'384;

struct RequestHead {
  std::string_view target;
  std::uint64_t body_bytes = 0;
  const char* refusal = nullptr;  // a status line when the request is not for this origin
};

RequestHead parse(std::string_view head) {
  RequestHead request;
  const std::size_t method_end = head.find(' ');
  const std::size_t target_end = method_end == head.npos ? head.npos : head.find(' ', method_end + 1);
  if (target_end == head.npos || !head.substr(target_end).starts_with(" HTTP/1.1\r\n")) {
    request.refusal = "400 Bad Request";
    return request;
  }
  request.target = head.substr(method_end + 1, target_end - method_end - 1);
  for (std::size_t at = head.find("\r\n"); at + 4 < head.size(); at = head.find("\r\n", at + 2)) {
    const std::string_view field = head.substr(at + 2);
    constexpr std::string_view length = "content-length:";
    if (field.size() > length.size() && strncasecmp(field.data(), length.data(), length.size()) == 0) {
      const std::size_t digits = std::min(field.find_first_not_of(' ', length.size()), field.size());
      std::from_chars(field.data() + digits, field.data() + field.size(), request.body_bytes);
    } else if (strncasecmp(field.data(), "transfer-encoding:", std::min<std::size_t>(field.size(), 18)) == 0) {
      request.refusal = "411 Length Required";
    }
  }
  return request;
}

struct Connection {
  Fd socket;
  std::uint64_t generation =
      0;              // tells a late timer of a closed connection from one of its successor on the same number
  std::string input;  // what came of a head that is not complete, or behind the request being answered
  std::uint64_t body_left = 0;  // of the request body, thrown away
  Answer answer;                // running while its script is set
  std::size_t sent = 0;
  std::size_t piece = 0;
  bool paused = false;  // until its timer
  bool close_after = false;

  bool answering() const { return answer.script && body_left == 0; }
};

class Origin {
 public:
  Origin(std::uint16_t port, bool spin)
      : listener_(listen_on_loopback(port)), epoll_(spin), buffer_(read_buffer_bytes) {
    epoll_.watch(listener_.get(), EPOLLIN, static_cast<std::uint64_t>(listener_.get()));
    std::printf("listening on 127.0.0.1:%u\n", static_cast<unsigned>(bound_port(listener_)));
    std::fflush(stdout);
  }

  [[noreturn]] void run() {
    for (;;) {
      const std::int64_t wait = timers_.empty() ? -1 : std::max<std::int64_t>(0, timers_.top().due - now_ns());
      for (const epoll_event& event : epoll_.wait(wait)) {
        const auto fd = static_cast<std::size_t>(event.data.u64);
        if (fd == static_cast<std::size_t>(listener_.get())) {
          accept_all();
        } else if (fd < connections_.size() && connections_[fd]) {
          on_ready(*connections_[fd], event.events);
        }
      }
      run_timers();
    }
  }

 private:
  struct Timer {
    std::int64_t due;
    std::size_t fd;
    std::uint64_t generation;
    bool operator>(const Timer& other) const { return due > other.due; }
  };

  void accept_all() {
    for (Fd socket = accept_from(listener_); socket.is_open(); socket = accept_from(listener_)) {
      const auto fd = static_cast<std::size_t>(socket.get());
      if (fd >= max_connections) continue;  // closed at once: the client counts it as an error
      if (fd >= connections_.size()) connections_.resize(fd + 1);
      epoll_.watch(socket.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, fd);
      connections_[fd] = std::make_unique<Connection>();
      connections_[fd]->socket = std::move(socket);
      connections_[fd]->generation = ++generations_;
    }
  }

  void drop(Connection& connection) { connections_[static_cast<std::size_t>(connection.socket.get())].reset(); }

  void on_ready(Connection& connection, std::uint32_t events) {
    if (events & (EPOLLERR | EPOLLHUP)) return drop(connection);
    if (connection.answering() && !connection.paused && !resume(connection)) return drop(connection);
    const bool ended = events & EPOLLRDHUP;
    for (;;) {
      const ssize_t got = recv(connection.socket.get(), buffer_.data(), buffer_.size(), 0);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0 || !on_bytes(connection, {buffer_.data(), static_cast<std::size_t>(got)})) return drop(connection);
      // A short read has emptied the socket; the next byte makes a new event. An end already told must be read here.
      if (static_cast<std::size_t>(got) < buffer_.size() && !ended) return;
    }
  }

  // False: the connection is done with.
  bool on_bytes(Connection& connection, std::string_view bytes) {
    if (!connection.input.empty() || connection.answering()) {
      connection.input += bytes;
      if (connection.answering()) return connection.input.size() <= max_head_bytes;
      const std::string input = std::move(connection.input);
      connection.input.clear();
      return serve(connection, input);
    }
    return serve(connection, bytes);
  }

  // Takes requests from the bytes until one must wait; keeps the rest.
  bool serve(Connection& connection, std::string_view bytes) {
    for (;;) {
      const std::uint64_t skipped = std::min<std::uint64_t>(connection.body_left, bytes.size());
      connection.body_left -= skipped;
      bytes.remove_prefix(skipped);
      if (connection.body_left > 0) return true;
      // A request is answered when its body is complete, as a server of prompts does.
      if (connection.answer.script && !write_on(connection)) return false;
      if (connection.answer.script) break;
      const std::size_t end = bytes.find("\r\n\r\n");
      if (end == bytes.npos) break;
      open_request(connection, bytes.substr(0, end + 4));
      bytes.remove_prefix(end + 4);
    }
    connection.input.assign(bytes);
    return connection.input.size() <= max_head_bytes;
  }

  void open_request(Connection& connection, std::string_view head) {
    const RequestHead request = parse(head);
    const auto answer = request.refusal ? std::nullopt : answers_.find(request.target);
    connection.body_left = answer ? request.body_bytes : 0;
    connection.sent = 0;
    connection.piece = 0;
    connection.close_after = !answer;
    connection.answer = answer ? *answer : refuse(request.refusal ? request.refusal : "404 Not Found");
  }

  static Answer refuse(std::string_view status) {
    auto script = std::make_shared<Script>();
    script->bytes = "HTTP/1.1 " + std::string(status) + "\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    script->ends = {script->bytes.size()};
    return {script, 0};
  }

  // Writes until the script ends, the socket is full or a pause is due. False: the connection is done with.
  bool write_on(Connection& connection) {
    const Script& script = *connection.answer.script;
    while (connection.piece < script.ends.size()) {
      const std::size_t end = script.ends[connection.piece];
      const ssize_t sent =
          send(connection.socket.get(), script.bytes.data() + connection.sent, end - connection.sent, MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      connection.sent += static_cast<std::size_t>(sent);
      if (connection.sent < end) continue;
      ++connection.piece;
      if (connection.answer.gap_ns > 0 && connection.piece < script.ends.size()) {
        connection.paused = true;
        timers_.push({now_ns() + connection.answer.gap_ns, static_cast<std::size_t>(connection.socket.get()),
                      connection.generation});
        return true;
      }
    }
    connection.answer.script = nullptr;
    return !connection.close_after;
  }

  void run_timers() {
    const std::int64_t now = now_ns();
    while (!timers_.empty() && timers_.top().due <= now) {
      const Timer timer = timers_.top();
      timers_.pop();
      Connection* connection = timer.fd < connections_.size() ? connections_[timer.fd].get() : nullptr;
      if (!connection || connection->generation != timer.generation) continue;
      connection->paused = false;
      if (!resume(*connection)) drop(*connection);
    }
  }

  // Goes on with the answer; a request that came behind it starts when it has ended.
  bool resume(Connection& connection) {
    if (!write_on(connection)) return false;
    return connection.answer.script || connection.input.empty() || on_bytes(connection, {});
  }

  Fd listener_;
  Epoll epoll_;
  Answers answers_;
  std::vector<char> buffer_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by file descriptor
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t generations_ = 0;
};

}  // namespace
}  // namespace brink::bench

int main(int argc, char** argv) {
  const bool spin = argc > 1 && std::string_view(argv[1]) == "--spin";
  const int rest = spin ? 2 : 1;
  char* end = nullptr;
  const unsigned long port = argc == rest + 1 ? std::strtoul(argv[rest], &end, 10) : 0;
  if (argc > rest + 1 || (end && *end) || port > 65535) {
    std::fprintf(stderr, "usage: bench-origin [--spin] [PORT]\n");
    return 2;
  }
  try {
    brink::bench::Origin(static_cast<std::uint16_t>(port), spin).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-origin: %s\n", error.what());
    return 1;
  }
}
