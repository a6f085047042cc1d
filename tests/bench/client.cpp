#include "tests/bench/client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace brink::bench {
namespace {

// So many connections are opened at the same time: fewer than the shortest usual listen backlog, so that no handshake
// is dropped and repeated a second later.
constexpr std::size_t max_opening = 128;
constexpr unsigned max_failures_in_a_row = 1000;
constexpr std::size_t max_samples = 8'000'000;
constexpr std::int64_t tick_ns = 250'000'000;
constexpr std::uint64_t input_tag = ~std::uint64_t{0};

std::uint32_t tenths_of_us(std::int64_t ns) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(ns / 100, 0xffffffff));
}

}  // namespace

Client::Client(Options options) : options_(std::move(options)), epoll_(options_.spin), buffer_(read_buffer_bytes) {
  allow_open_files(options_.connections + 16);
  connections_.reserve(options_.connections);
  for (std::size_t i = 0; i < options_.connections; ++i) {
    connections_.emplace_back(options_.expected_events.has_value());
    to_open_.push_back(i);
  }
}

Report Client::run(const std::function<void(std::size_t)>& on_open) {
  const std::int64_t start = now_ns();
  last_answer_ = start;
  if (options_.duration_ns > 0) deadline_ = start + options_.duration_ns;
  if (options_.mode == Mode::streams) {
    while (!to_open_.empty() || opening_ > 0) poll(tick_ns);
    on_open(answering_);
  }
  run_until_finished();
  if (options_.mode == Mode::idle) {
    on_open(static_cast<std::size_t>(report_.requests));
    hold_until_input_ends();
    ask_each_once_more();
  }
  report_.seconds = static_cast<double>(last_answer_ - start) / 1e9;
  return std::move(report_);
}

bool Client::may_ask() const {
  if (options_.mode != Mode::load) return false;
  return (options_.requests == 0 || asked_ < options_.requests) && (deadline_ == 0 || now_ns() < deadline_);
}

bool Client::finished() const {
  if (asking_ > 0) return false;
  return options_.mode == Mode::load ? !may_ask() : to_open_.empty();
}

void Client::run_until_finished() {
  while (!finished()) poll(tick_ns);
}

void Client::hold_until_input_ends() {
  try {
    epoll_.watch(STDIN_FILENO, EPOLLIN, input_tag);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::operation_not_permitted) throw;
    input_ended_ = true;  // a plain file or /dev/null: nothing to wait for
  }
  while (!input_ended_) poll(tick_ns);
}

void Client::ask_each_once_more() {
  for (Connection& connection : connections_) {
    while (asking_ >= max_opening) poll(tick_ns);
    if (connection.phase == Phase::resting) ask(connection);
  }
  run_until_finished();
}

void Client::poll(std::int64_t timeout_ns) {
  open_some();
  for (const epoll_event& event : epoll_.wait(timeout_ns)) {
    if (event.data.u64 == input_tag) {
      on_input();
    } else {
      on_ready(connections_[event.data.u64], event.events);
    }
  }
  if (now_ns() >= next_expiry_) expire();
}

void Client::on_input() {
  const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
  if (got <= 0) input_ended_ = true;
}

void Client::open_some() {
  while (!to_open_.empty() && opening_ < max_opening && (options_.mode != Mode::load || may_ask())) {
    const std::size_t index = to_open_.back();
    to_open_.pop_back();
    open(index);
  }
}

void Client::open(std::size_t index) {
  Connection& connection = connections_[index];
  connection.opening = true;
  ++opening_;
  ++asking_;
  ++asked_;
  connection.phase = Phase::sending;
  connection.started = now_ns();
  try {
    connection.socket = connect_to_loopback(options_.port);
    epoll_.watch(connection.socket.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, index);
  } catch (const std::system_error& error) {
    fail(connection, error.what());
  }
}

void Client::ask(Connection& connection) {
  ++asking_;
  ++asked_;
  connection.phase = Phase::sending;
  send_on(connection);
}

void Client::send_on(Connection& connection) {
  if (connection.sent == 0) connection.started = now_ns();
  const char* const data = options_.request.data() + connection.sent;
  const ssize_t sent = send(connection.socket.get(), data, options_.request.size() - connection.sent, MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno != EAGAIN) fail(connection, std::string("send: ") + std::strerror(errno));
    return;
  }
  connection.sent += static_cast<std::size_t>(sent);
  if (connection.sent == options_.request.size()) connection.phase = Phase::receiving;
}

void Client::on_ready(Connection& connection, std::uint32_t events) {
  const bool ended = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
  if (connection.phase == Phase::sending && !ended) {
    while (connection.phase == Phase::sending && connection.sent < options_.request.size()) {
      const std::size_t before = connection.sent;
      send_on(connection);
      if (connection.sent == before) break;
    }
  }
  while ((events & EPOLLIN || ended) && connection.socket.is_open()) {
    const ssize_t got = recv(connection.socket.get(), buffer_.data(), buffer_.size(), 0);
    if (got > 0) {
      on_bytes(connection, {buffer_.data(), static_cast<std::size_t>(got)});
      // A short read has emptied the socket; the next byte makes a new event. An end already told must be read here.
      if (static_cast<std::size_t>(got) < buffer_.size() && !ended) return;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else if (got == 0) {
      on_end(connection);
    } else {
      fail(connection, std::string("receive: ") + std::strerror(errno));
    }
  }
}

void Client::on_bytes(Connection& connection, std::string_view bytes) {
  if (connection.phase == Phase::resting) return fail(connection, "bytes came without a request");
  if (connection.first_byte == 0) on_first_byte(connection);
  const std::size_t taken = connection.reader.feed(bytes);
  if (connection.reader.state() == ResponseReader::State::broken)
    return fail(connection, "the answer is not valid HTTP");
  if (connection.reader.state() == ResponseReader::State::reading) return;
  if (taken < bytes.size()) return fail(connection, "bytes came after the answer");
  on_answer(connection);
}

void Client::on_first_byte(Connection& connection) {
  connection.first_byte = now_ns();
  ++answering_;
  report_.most_open = std::max(report_.most_open, answering_);
  if (std::exchange(connection.opening, false)) --opening_;
}

void Client::on_end(Connection& connection) {
  if (connection.phase == Phase::resting) {
    ++report_.dropped_idle;
    return close(connection);
  }
  connection.reader.end_of_input();
  if (connection.reader.state() == ResponseReader::State::complete) return on_answer(connection);
  fail(connection, connection.first_byte == 0 ? "closed without an answer" : "closed before the answer ended");
}

void Client::on_answer(Connection& connection) {
  if (const std::string wrong = judge(connection); !wrong.empty()) return fail(connection, wrong);
  last_answer_ = now_ns();
  if (report_.latency.size() < max_samples) {
    report_.latency.push_back(tenths_of_us(last_answer_ - connection.started));
    report_.first_byte.push_back(tenths_of_us(connection.first_byte - connection.started));
  }
  ++report_.requests;
  report_.events += connection.reader.events().in_order();
  failures_in_a_row_ = 0;
  const bool reusable = connection.reader.keep_alive();
  leave(connection);
  if (!reusable) {
    if (options_.mode == Mode::idle) ++report_.dropped_idle;
    close(connection);
  } else if (options_.mode == Mode::streams) {
    close(connection);
  } else if (may_ask()) {
    ask(connection);
  }
}

// What is wrong with a complete answer; empty when nothing is.
std::string Client::judge(const Connection& connection) const {
  const ResponseReader& reader = connection.reader;
  if (connection.phase == Phase::sending) return "answered before the request was sent";
  if (reader.status() != 200) return "status " + std::to_string(reader.status());
  if (options_.expected_bytes && reader.body_bytes() != *options_.expected_bytes) {
    return "a body of " + std::to_string(reader.body_bytes()) + " bytes instead of " +
           std::to_string(*options_.expected_bytes);
  }
  if (!options_.expected_events) return {};
  const EventCounter& events = reader.events();
  if (events.in_order() == *options_.expected_events && events.done() && !events.disordered()) return {};
  return std::to_string(events.in_order()) + " events in order instead of " +
         std::to_string(*options_.expected_events) + (events.done() ? "" : ", and no end");
}

void Client::fail(Connection& connection, const std::string& why) {
  ++report_.errors;
  if (report_.first_error.empty()) report_.first_error = why;
  if (options_.expected_events) {
    const std::uint64_t in_order = connection.reader.events().in_order();
    report_.events += in_order;
    report_.events_lost += *options_.expected_events - std::min(in_order, *options_.expected_events);
  }
  if (connection.phase != Phase::resting) leave(connection);
  close(connection);
  if (++failures_in_a_row_ >= max_failures_in_a_row) {
    throw std::runtime_error(std::to_string(failures_in_a_row_) + " requests failed in a row, the last one: " + why);
  }
}

// The request is over, the connection at rest.
void Client::leave(Connection& connection) {
  --asking_;
  if (std::exchange(connection.first_byte, 0) != 0) --answering_;
  if (std::exchange(connection.opening, false)) --opening_;
  connection.phase = Phase::resting;
  connection.sent = 0;
  connection.reader.reset();
}

void Client::close(Connection& connection) {
  connection.socket.close();
  connection.phase = Phase::closed;
  if (options_.mode == Mode::load) to_open_.push_back(static_cast<std::size_t>(&connection - connections_.data()));
}

void Client::expire() {
  const std::int64_t now = now_ns();
  next_expiry_ = now + tick_ns;
  for (Connection& connection : connections_) {
    const bool under_way = connection.phase == Phase::sending || connection.phase == Phase::receiving;
    if (under_way && now - connection.started > options_.timeout_ns) {
      fail(connection, connection.first_byte == 0 ? "no answer in time" : "the answer did not end in time");
    }
  }
}

}  // namespace brink::bench
