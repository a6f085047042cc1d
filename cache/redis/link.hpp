// The way to one server, whatever becomes of the connection: opens it, opens it again after a loss, and gives each
// command an answer within its deadline. One thread; closed before its owner ends.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "cache/redis/breaker.hpp"
#include "cache/redis/connection.hpp"
#include "cache/redis/locator.hpp"
#include "cache/redis/pipeline.hpp"
#include "cache/redis/result.hpp"

namespace brink::cache::redis {

class Link final : public std::enable_shared_from_this<Link>, public Connection::Owner {
 public:
  struct Owner {
    // Once for each command that send() took. Of a server's error `result.reply` keeps it. May close the link.
    virtual void on_answer(Link& link, std::uint64_t id, Result&& result) = 0;
    virtual void on_state(bool up, const std::string& text) = 0;

   protected:
    ~Owner() = default;
  };

  Link(boost::asio::io_context& context, Owner& owner, const Options& options, TlsContext tls,
       std::unique_ptr<Locator> locator);

  void start();
  // none: the answer will come to the owner, later. Else it will not, for this reason.
  ErrorKind send(std::uint64_t id, const Wire& wire, unsigned replies, Time deadline);
  void close();  // the owner hears no more of it

  bool available() const;  // send() would take a command now, if there is room
  bool idle() const { return pipeline_.in_flight() == 0; }
  const Node& node() const { return node_; }
  const std::string& trouble() const { return trouble_; }  // why it is not available; may be empty

 private:
  void connect();
  void on_located(std::optional<Node> node, const std::string& why);
  void on_open() override;
  void on_reply(Reply&& reply) override;
  void on_pause() override;
  void on_written() override;
  void on_loss(Connection::Loss loss, const std::string& why) override;

  void flush();
  void arm(Time wake);
  void on_deadline();
  void drop(Connection::Loss loss, const std::string& why);
  void connect_later();
  void answer(std::uint64_t id, ErrorKind error, const std::string& text);
  void count(bool good, const std::string& why);
  void tell(bool up, const std::string& text);
  double random() { return std::uniform_real_distribution<double>(0, 1)(generator_); }

  boost::asio::io_context& context_;
  boost::asio::steady_timer deadline_timer_, connect_timer_;
  Owner* owner_;  // null once closed
  const Login login_;
  const Clock::duration overdue_;
  const TlsContext tls_;
  const std::unique_ptr<Locator> locator_;
  Pipeline pipeline_;
  Breaker breaker_;
  std::shared_ptr<Connection> connection_;
  Node node_;            // the last one tried
  std::string trouble_;  // the last reason, so that it is told once
  Time armed_ = Time::max();
  Time opened_{};
  int failures_ = 0;  // to connect, since the last good reply; above 0 commands do not wait for a connection
  unsigned attempt_ = 0;
  bool connecting_ = false;  // located, opened, or to be so later
  bool corked_ = false;      // replies are being handed out: what their callbacks send goes out together
  std::minstd_rand generator_{std::random_device{}()};
};

}  // namespace brink::cache::redis
