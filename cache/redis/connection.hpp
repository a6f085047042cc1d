// One connection to one server, from its address to its end: opens a stream, logs in, then hands replies to its owner
// and writes what the owner gives. It never opens again: the owner makes a new one. One thread.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/redis/options.hpp"
#include "cache/redis/resp.hpp"
#include "cache/redis/stream.hpp"

namespace brink::cache::redis {

// How to get a usable connection to a server.
struct Login {
  std::string user, password;  // no password: no AUTH
  unsigned database = 0;
  bool needs_master = false;                 // ROLE has to say that it is one: sentinels may be late to know
  std::chrono::milliseconds timeout{1'000};  // for all of it
  std::size_t max_reply_bytes = 0;
  bool insecure = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Loss : std::uint8_t { connect, lost, protocol };  // never opened; ended; answered nonsense
  struct Owner {
    virtual void on_open() = 0;                // the server has answered to AUTH, SELECT and PING
    virtual void on_reply(Reply&& reply) = 0;  // in order; bytes read together are followed by on_pause()
    virtual void on_pause() = 0;
    virtual void on_written() = 0;  // the last write() is over
    virtual void on_loss(Loss loss, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  Connection(boost::asio::io_context& context, Owner& owner, Node node, TlsContext tls, Login login);

  void start(unsigned attempt);
  // REQUIRES: open, and no other write under way. Bytes stay valid until on_written(), or as `keep` lives.
  void write(std::string_view bytes, std::shared_ptr<const void> keep);
  bool writing() const { return writing_; }
  bool open() const { return state_ == State::open; }
  const Node& node() const { return node_; }
  void close();  // the owner hears no more of it

 private:
  enum class State : std::uint8_t { opening, login, open, closed };
  enum class Step : std::uint8_t { auth, select, role, ping };
  void connected(const boost::system::error_code& error);
  void log_in();
  void read();
  void on_bytes(std::size_t size);
  void on_login_reply(const Reply& reply);
  void fail(Loss loss, const std::string& why);

  boost::asio::steady_timer timer_;
  Owner* owner_;  // null once closed
  const Node node_;
  const Login login_;
  const TlsContext tls_;
  const std::unique_ptr<Stream> stream_;
  ReplyReader reader_;
  State state_ = State::opening;
  bool writing_ = false;
  std::vector<Step> steps_;  // whose replies are still to come, last first
  std::array<char, 65'536> input_;
};

}  // namespace brink::cache::redis
