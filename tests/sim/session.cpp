#include "tests/sim/session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "tests/sim/ws_echo.hpp"

namespace brink::sim {
namespace {

constexpr std::uint64_t max_body = 64ULL << 20;
constexpr std::uint32_t max_head = 64U << 10;
constexpr std::size_t read_size = 16U << 10;
constexpr std::size_t max_ahead = 1U << 20;   // what a client may send while its last request is being answered
constexpr std::size_t max_output = 8U << 20;  // what may wait for a client that does not read
constexpr auto request_time = std::chrono::seconds(60);  // from the first byte of a request to its last
constexpr auto drain_time = std::chrono::seconds(1);

}  // namespace

Session::Session(Socket socket, Context& context)
    : socket_(std::move(socket)), context_(context), deadline_(context.io) {
  ++context_.counters.connections;
  ++context_.gauges.open_connections;
}

Session::~Session() { --context_.gauges.open_connections; }

void Session::start() {
  close_after(context_.config.idle_close);
  read();
}

void Session::read() {
  socket_.async_read_some(input_.prepare(read_size),
                          [self = shared_from_this()](error_code ec, std::size_t size) { self->on_read(ec, size); });
}

void Session::on_read(error_code ec, std::size_t size) {
  if (state_ == State::closed) return;
  if (ec) return close();
  if (state_ == State::draining || drain_when_written_) {  // nothing that still comes is answered
    input_.clear();
    return read();
  }
  input_.commit(size);
  if (exchange_ && input_.size() > max_ahead) return close();
  parse();
  if (state_ != State::closed) read();
}

void Session::parse() {
  while (state_ == State::open && !drain_when_written_ && !exchange_ && input_.size() > 0) {
    if (!parser_) {
      parser_.emplace();
      parser_->eager(true);
      parser_->body_limit(max_body);
      parser_->header_limit(max_head);
      continue_sent_ = false;
      close_after(request_time);
    }
    error_code ec;
    input_.consume(parser_->put(input_.data(), ec));
    if (ec && ec != http::error::need_more) {
      const unsigned status = ec == http::error::body_limit ? 413 : ec == http::error::header_limit ? 431 : 400;
      return refuse(status, ec.message());
    }
    if (parser_->is_done()) {
      Request request = parser_->release();
      parser_.reset();
      on_request(std::move(request));
      continue;
    }
    if (parser_->is_header_done() && !continue_sent_) {
      continue_sent_ = true;
      if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (ec) return;  // the rest has not arrived
  }
}

void Session::on_request(Request request) {
  deadline_.cancel();
  keep_alive_ = request.keep_alive();
  AnswerShape shape{.chunked = request.version() >= 11,
                    .keep_alive = keep_alive_,
                    .head_only = request.method() == http::verb::head,
                    .request_id = std::string(request["x-request-id"])};
  if (take_websocket(request)) return;
  Work work = decide(context_, request);
  if (const auto* generation = std::get_if<Generation>(&work.what);
      generation && generation->stream && !shape.chunked) {
    keep_alive_ = shape.keep_alive = false;
  }
  exchange_ = std::make_shared<Exchange>(context_, static_cast<Connection&>(*this), std::move(work), std::move(shape));
  const auto exchange = exchange_;  // it may end while it starts
  exchange->start();
}

// Hands socket and request over when this is a WebSocket's beginning; the session then only waits for its handlers.
bool Session::take_websocket(Request& request) {
  if (path_of(request) != "/v1/realtime" || !beast::websocket::is_upgrade(request) || input_.size() > 0) return false;
  if (!writing_.empty() || !output_.empty()) return false;  // an earlier answer is still on its way: 426
  state_ = State::closed;
  start_echo(std::move(socket_), std::move(request), context_);
  return true;
}

void Session::refuse(unsigned status, std::string message) {
  const Reply reply = error_reply({.status = status, .message = std::move(message)});
  write(answer_head(context_.config.name, {.keep_alive = false}, reply, reply.body.size()));
  write(reply.body);
  cut();
}

void Session::write(std::string_view bytes) {
  if (state_ != State::open) return;
  output_.append(bytes);
  if (output_.size() > max_output) {
    ++context_.counters.slow_readers;
    return close();
  }
  if (flush_posted_ || !writing_.empty()) return;
  // Posted, so that all that one moment brings goes out in one write.
  flush_posted_ = true;
  asio::post(context_.io, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void Session::flush() {
  if (state_ != State::open || !writing_.empty()) return;
  if (output_.empty()) {
    if (drain_when_written_) drain();
    return;
  }
  writing_.swap(output_);
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
}

void Session::on_written(error_code ec) {
  writing_.clear();
  if (state_ == State::closed) return;
  if (ec) return close();
  flush();
}

void Session::answered() {
  exchange_.reset();
  if (state_ != State::open) return;
  if (!keep_alive_) return cut();
  close_after(context_.config.idle_close);
  if (input_.size() == 0) return;
  asio::post(context_.io, [self = shared_from_this()] { self->parse(); });
}

void Session::cut() {
  exchange_.reset();
  if (state_ != State::open) return;
  drain_when_written_ = true;
  if (!flush_posted_ && writing_.empty()) flush();
}

void Session::reset() {
  error_code ignored;  // the peer may be gone already, then there is nothing left to reset
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

// Closing with unread input would make the kernel reset the connection and the client lose the answer's end, so: send
// the end, read on for a moment (RFC 9112 section 9.6).
void Session::drain() {
  state_ = State::draining;
  error_code ignored;  // not connected any more: the pending read sees it as well
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  close_after(drain_time);
}

void Session::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  deadline_.cancel();
  exchange_.reset();
  error_code ignored;  // the descriptor is gone either way
  socket_.close(ignored);
}

void Session::close_after(Clock::duration time) {
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](error_code ec) {
    const auto self = weak.lock();
    // A request may have arrived in the same moment; then there is a new deadline, or none.
    if (ec || !self || self->exchange_ || self->deadline_.expiry() > Clock::now()) return;
    // A client that is still taking in its answer is not idle.
    if (self->writing_.empty()) return self->close();
    self->close_after(self->context_.config.idle_close);
  });
}

}  // namespace brink::sim
