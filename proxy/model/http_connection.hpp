// One client's connection: strict HTTP/1.1, one request at a time, bodies up to a limit, and word of the client's going
// while it is answered. What the requests mean is the handler's. Lives on the I/O thread as long as an operation or the
// handler holds it.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/chunked.hpp"
#include "proxy/http/head.hpp"

namespace brink::model {

struct HttpRequest {
  std::string method;
  std::string path;
  std::string body;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Handler = std::function<void(const HttpRequest&, std::shared_ptr<HttpConnection>)>;
  static constexpr std::size_t max_body = std::size_t{4} << 20;

  HttpConnection(Socket socket, const Handler& handler);
  void start();
  void close();

  // The response to the request the handler was given: once reply(), or begin_events(), event() for each and
  // end_events(). Without effect after the client has gone.
  // `fields`: more head fields, each with its CRLF.
  void reply(int status, std::string_view content_type, std::string_view body, std::string_view fields = {});
  void begin_events();
  void event(std::string_view data);
  void end_events();
  void break_off();  // ends a stream so that the client sees that it is not complete

  // Called once if the client goes before its response is complete; forgotten with it.
  void on_gone(std::function<void()> callback) { gone_ = std::move(callback); }

 private:
  enum class State : unsigned char { head, body, answering, streaming, closed };

  void read();
  void on_read(std::size_t size);
  void consume();
  bool take_head();
  bool take_body();
  bool take_chunks();
  void dispatch();
  void refuse(int status, std::string_view message);
  void finish(std::string_view rest);
  void send(std::string_view bytes);
  void write();
  void respond_done();
  void arm(std::chrono::seconds limit);

  Socket socket_;
  const Handler& handler_;
  boost::asio::steady_timer deadline_;
  State state_ = State::head;
  std::string input_;  // not yet consumed
  std::array<char, 16384> chunk_{};
  bool reading_ = false;
  bool expects_continue_ = false;
  HttpRequest request_;
  http::RequestHead head_;
  http::ChunkedReader chunks_;
  http::Framing framing_ = http::Framing::none;
  std::size_t body_left_ = 0;
  bool keep_alive_ = true;
  bool chunked_reply_ = false;
  std::string output_;  // to be written once `writing_` is out
  std::string writing_;
  bool complete_ = false;  // the response is all there, if not yet written
  bool close_after_write_ = false;
  std::function<void()> gone_;
};

// The reason phrase of a status, and never nothing.
std::string_view reason_of(int status);

}  // namespace brink::model
