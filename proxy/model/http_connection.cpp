#include "proxy/model/http_connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <utility>

#include "proxy/model/answer.hpp"

namespace brink::model {

namespace {

using Error = boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto idle_limit = 75s;   // between requests, the head included
constexpr auto body_limit = 30s;   // for all of a body
constexpr auto write_limit = 30s;  // a client that takes nothing for so long is gone
constexpr auto linger_limit = 2s;  // for the client to read a reply after which we close
constexpr http::Limits head_limits{.head = 16384, .fields = 64, .target = 2048};
// What a client may send ahead while it is answered; one that sends more is cut off.
constexpr std::size_t max_ahead = 65536;

}  // namespace

std::string_view reason_of(int status) {
  const std::string_view reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return reason.empty() ? "Unknown" : reason;
}

HttpConnection::HttpConnection(Socket socket, const Handler& handler)
    : socket_(std::move(socket)), handler_(handler), deadline_(socket_.get_executor()) {}

void HttpConnection::start() {
  arm(idle_limit);
  read();
}

void HttpConnection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  deadline_.cancel();
  Error ignored;
  socket_.close(ignored);
  if (const auto gone = std::exchange(gone_, nullptr)) gone();
}

void HttpConnection::arm(std::chrono::seconds limit) {
  deadline_.expires_after(limit);
  deadline_.async_wait([self = shared_from_this()](Error error) {
    if (!error) self->close();
  });
}

// A read is always outstanding, also while the client is answered: its end is how we learn that it has gone.
void HttpConnection::read() {
  if (reading_ || state_ == State::closed) return;
  reading_ = true;
  socket_.async_read_some(boost::asio::buffer(chunk_), [self = shared_from_this()](Error error, std::size_t size) {
    self->reading_ = false;
    if (error) {
      self->close();
    } else {
      self->on_read(size);
    }
  });
}

void HttpConnection::on_read(std::size_t size) {
  if (state_ == State::closed) return;
  if (close_after_write_) {  // what comes after the last reply is not looked at
    read();
    return;
  }
  input_.append(chunk_.data(), size);
  consume();
  if ((state_ == State::answering || state_ == State::streaming) && input_.size() > max_ahead) {
    close();
    return;
  }
  read();
}

void HttpConnection::consume() {
  if (state_ == State::head && !take_head()) return;
  if (state_ == State::body && take_body()) dispatch();
}

bool HttpConnection::take_head() {
  const http::ParseResult parsed = http::parse_request(input_, head_limits, head_);
  if (parsed.error != http::HeadError::ok) {
    refuse(static_cast<int>(http::status_of(parsed.error)), parsed.what);
    return false;
  }
  if (parsed.size == 0) return false;
  request_ = {.method = std::string(head_.method_text), .path = std::string(head_.path), .body = {}};
  keep_alive_ = head_.keep_alive;
  chunked_reply_ = head_.minor_version == 1;
  framing_ = head_.framing;
  body_left_ = static_cast<std::size_t>(std::min<std::uint64_t>(head_.content_length, max_body + 1));
  expects_continue_ = head_.expect_continue;
  const bool bad_expect = head_.bad_expect;
  const bool coded = head_.find("content-encoding") != nullptr;
  input_.erase(0, parsed.size);
  if (bad_expect) refuse(417, "this expectation cannot be met");
  if (state_ == State::head && coded) refuse(415, "the body must come without a content coding");
  if (state_ == State::head && framing_ == http::Framing::length && body_left_ > max_body) {
    refuse(413, "the body is larger than 4 MiB");
  }
  if (state_ != State::head || close_after_write_) return false;
  state_ = State::body;
  chunks_.reset();
  arm(body_limit);
  if (expects_continue_ && framing_ != http::Framing::none && input_.empty()) send("HTTP/1.1 100 Continue\r\n\r\n");
  return true;
}

// True once the body is complete.
bool HttpConnection::take_body() {
  if (framing_ == http::Framing::chunked) return take_chunks();
  if (framing_ == http::Framing::none) return true;
  const std::size_t size = std::min(body_left_, input_.size());
  request_.body.append(input_, 0, size);
  input_.erase(0, size);
  body_left_ -= size;
  return body_left_ == 0;
}

bool HttpConnection::take_chunks() {
  const auto result = chunks_.decode(input_.data(), input_.size());
  if (result.error) {
    refuse(400, result.error);
    return false;
  }
  request_.body.append(input_, 0, result.decoded);
  input_.erase(0, result.consumed);
  if (request_.body.size() > max_body) {
    refuse(413, "the body is larger than 4 MiB");
    return false;
  }
  return result.done;
}

void HttpConnection::dispatch() {
  state_ = State::answering;
  complete_ = false;
  deadline_.cancel();
  handler_(request_, shared_from_this());
  request_.body = {};
}

// After an error of framing nobody knows where the next request begins: the connection ends with the reply.
void HttpConnection::refuse(int status, std::string_view message) {
  keep_alive_ = false;
  state_ = State::answering;
  const ApiError error(std::string(message), {}, {}, status);
  reply(status, "application/json", error_body(error));
}

void HttpConnection::reply(int status, std::string_view content_type, std::string_view body, std::string_view fields) {
  if (state_ != State::answering || complete_) return;
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) + "\r\n";
  head.append("content-type: ").append(content_type).append("\r\n").append(fields);
  head += "content-length: " + std::to_string(body.size()) + "\r\n";
  head += keep_alive_ ? "\r\n" : "connection: close\r\n\r\n";
  if (request_.method != "HEAD") head += body;
  finish(head);
}

void HttpConnection::begin_events() {
  if (state_ != State::answering || complete_) return;
  state_ = State::streaming;
  // Without chunks only the end of the connection can end a body of unknown length (HTTP/1.0).
  if (!chunked_reply_) keep_alive_ = false;
  std::string head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n";
  if (chunked_reply_) head += "transfer-encoding: chunked\r\n";
  send(head + (keep_alive_ ? "\r\n" : "connection: close\r\n\r\n"));
}

void HttpConnection::event(std::string_view data) {
  if (state_ != State::streaming) return;
  std::string text;
  if (chunked_reply_) {
    std::array<char, 16> size{};
    const auto end = std::to_chars(size.data(), size.data() + size.size(), data.size() + 8, 16).ptr;
    text.append(size.data(), end).append("\r\n");
  }
  text.append("data: ").append(data).append("\n\n");
  if (chunked_reply_) text += "\r\n";
  send(text);
}

void HttpConnection::end_events() {
  if (state_ != State::streaming) return;
  state_ = State::answering;
  finish(chunked_reply_ ? "0\r\n\r\n" : "");
}

void HttpConnection::break_off() {
  if (state_ != State::streaming) return;
  state_ = State::answering;
  keep_alive_ = false;
  finish("");
}

void HttpConnection::finish(std::string_view rest) {
  complete_ = true;
  close_after_write_ = !keep_alive_;
  gone_ = nullptr;
  send(rest);
}

void HttpConnection::send(std::string_view bytes) {
  output_ += bytes;
  if (writing_.empty()) write();
}

// What comes while a write is out goes together in the next.
void HttpConnection::write() {
  if (state_ == State::closed) return;
  if (output_.empty()) {
    if (complete_) respond_done();
    return;
  }
  writing_ = std::exchange(output_, {});
  arm(write_limit);
  boost::asio::async_write(socket_, boost::asio::buffer(writing_),
                           [self = shared_from_this()](Error error, std::size_t) {
                             self->writing_.clear();
                             if (self->state_ == State::closed) return;
                             if (error) {
                               self->close();
                               return;
                             }
                             self->deadline_.cancel();
                             if (self->state_ == State::body) self->arm(body_limit);
                             self->write();
                           });
}

// The response is complete and written.
void HttpConnection::respond_done() {
  if (close_after_write_) {
    // A close with unread bytes would reset the connection, and the client might never see the reply.
    Error ignored;
    socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
    arm(linger_limit);
    return;
  }
  state_ = State::head;
  complete_ = false;
  arm(idle_limit);
  if (!input_.empty()) consume();
}

}  // namespace brink::model
