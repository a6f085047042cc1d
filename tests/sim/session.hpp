// One HTTP/1.1 connection: requests one after the other (pipelined ones wait), answers in order, the client's leaving
// seen at once because the socket is always being read. Owns itself through the handlers it has outstanding. One
// thread.
//
// A client that closes its sending side counts as gone, as with the usual Python servers.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>
#include <optional>
#include <string>

#include "tests/sim/context.hpp"
#include "tests/sim/exchange.hpp"

namespace brink::sim {

class Session final : public std::enable_shared_from_this<Session>, private Connection {
 public:
  Session(Socket socket, Context& context);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();

 private:
  enum class State { open, draining, closed };
  using Parser = http::request_parser<http::string_body>;

  void write(std::string_view bytes) override;
  void answered() override;
  void cut() override;
  void reset() override;

  void read();
  void on_read(error_code ec, std::size_t size);
  void parse();
  void on_request(Request request);
  bool take_websocket(Request& request);
  void refuse(unsigned status, std::string message);
  void flush();
  void on_written(error_code ec);
  void drain();
  void close();
  void close_after(Clock::duration time);

  Socket socket_;
  Context& context_;
  Timer deadline_;
  beast::flat_buffer input_;
  std::optional<Parser> parser_;  // of the request that is being read
  bool continue_sent_ = false;
  std::shared_ptr<Exchange> exchange_;  // the request that is being answered
  bool keep_alive_ = true;
  std::string output_;   // to be written next
  std::string writing_;  // being written
  bool flush_posted_ = false;
  bool drain_when_written_ = false;
  State state_ = State::open;
};

}  // namespace brink::sim
