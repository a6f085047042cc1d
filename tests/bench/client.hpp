// The client of the benchmark: many connections on one thread, each with one request at a time (closed loop), each
// answer checked. It measures from the moment a request is handed to the kernel to the first and to the last byte of
// its answer.
//
// One thread creates and runs it. What goes wrong with one request is counted in the report; run() throws only when the
// program itself cannot go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/net.hpp"
#include "tests/bench/response.hpp"

namespace brink::bench {

enum class Mode {
  load,     // each connection asks again and again
  idle,     // each asks once, is held open, and asks once more to prove that it still lives
  streams,  // each asks once; all of the answers run at the same time
};

struct Options {
  Mode mode = Mode::load;
  std::uint16_t port = 0;
  bool spin = false;                             // see Epoll
  std::string request;                           // head and body as sent
  std::size_t connections = 1;                   // 1..100000
  std::int64_t duration_ns = 0;                  // load: no new request after it; 0: no limit
  std::uint64_t requests = 0;                    // load: at most so many; 0: no limit
  std::int64_t timeout_ns = 30'000'000'000;      // one request's; past it it is an error
  std::optional<std::uint64_t> expected_bytes;   // of each body
  std::optional<std::uint64_t> expected_events;  // of each stream
};

struct Report {
  std::uint64_t requests = 0;  // answered rightly
  std::uint64_t errors = 0;    // answered wrongly, not at all, or too late
  std::string first_error;
  std::uint64_t events = 0;
  std::uint64_t events_lost = 0;          // expected of answers that began or failed, and not received in order
  std::uint64_t dropped_idle = 0;         // connections that the peer closed while they were held
  std::size_t most_open = 0;              // answers under way at the same time
  double seconds = 0;                     // from the first request to the last answer
  std::vector<std::uint32_t> latency;     // of right answers, in tenths of a microsecond
  std::vector<std::uint32_t> first_byte;  // the same, to the first byte
};

class Client {
 public:
  explicit Client(Options options);

  // Calls `on_open` when each connection has its answer (idle) or the first byte of it (streams). In idle mode the
  // connections are then held until standard input ends.
  Report run(const std::function<void(std::size_t)>& on_open);

 private:
  enum class Phase { closed, sending, receiving, resting };
  struct Connection {
    explicit Connection(bool count_events) : reader(count_events) {}
    Fd socket;
    Phase phase = Phase::closed;
    bool opening = true;  // no byte of its first answer yet
    std::size_t sent = 0;
    std::int64_t started = 0;
    std::int64_t first_byte = 0;
    ResponseReader reader;
  };

  bool may_ask() const;
  bool finished() const;
  void run_until_finished();
  void hold_until_input_ends();
  void ask_each_once_more();
  void poll(std::int64_t timeout_ns);
  void on_input();

  void open_some();
  void open(std::size_t index);
  void ask(Connection& connection);
  void send_on(Connection& connection);
  void on_ready(Connection& connection, std::uint32_t events);
  void on_bytes(Connection& connection, std::string_view bytes);
  void on_first_byte(Connection& connection);
  void on_end(Connection& connection);
  void on_answer(Connection& connection);
  std::string judge(const Connection& connection) const;
  void fail(Connection& connection, const std::string& why);
  void leave(Connection& connection);
  void close(Connection& connection);
  void expire();

  const Options options_;
  Epoll epoll_;
  std::vector<char> buffer_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> to_open_;  // indices of closed connections
  std::size_t opening_ = 0;           // opened and still without a byte of the first answer
  std::size_t asking_ = 0;            // requests under way
  std::size_t answering_ = 0;         // of them with a first byte
  std::uint64_t asked_ = 0;
  std::int64_t deadline_ = 0;  // no request starts after it; 0: none
  std::int64_t next_expiry_ = 0;
  std::int64_t last_answer_ = 0;
  unsigned failures_in_a_row_ = 0;
  bool input_ended_ = false;
  Report report_;
};

}  // namespace brink::bench
