// What the connections of one thread share: the handler of their requests, limits and times, the list of those open,
// and the recycled memory of requests. One a worker, and one for the admin listener.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "conf/config.hpp"
#include "proxy/downstream/http1_session.hpp"
#include "proxy/http/run.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/net/networks.hpp"

namespace brink::downstream {

class Service {
 public:
  // `on_close` is told of each connection that ended.
  Service(net::Loop& loop, http::Handler& handler, std::function<void()> on_close);
  ~Service();

  void configure(const conf::DownstreamConfig& config);  // for connections and requests from now on
  void accept(net::Socket::Native&& socket, std::string peer, bool tcp);
  void drain();      // answers say `Connection: close`, idle connections go
  void close_all();  // at once
  std::size_t connections() const { return sessions_.size(); }
  bool draining() const { return draining_; }

  net::Loop& loop() { return loop_; }
  filter::EncoderPool& encoders() { return encoders_; }
  http::Handler& handler() { return handler_; }
  const conf::DownstreamConfig& config() const { return config_; }
  const net::Networks& trusted() const { return trusted_; }
  const http::Limits& head_limits() const { return head_limits_; }

  std::unique_ptr<Active> borrow_active();
  void give_back(std::unique_ptr<Active> active);
  void remove(Http1Session& session);

 private:
  static constexpr std::size_t max_kept_active = 1024;
  net::Loop& loop_;
  http::Handler& handler_;
  std::function<void()> on_close_;
  filter::EncoderPool encoders_;  // before what holds encoders of it
  conf::DownstreamConfig config_;
  http::Limits head_limits_;
  net::Networks trusted_;
  boost::intrusive::list<Http1Session> sessions_;
  std::vector<std::unique_ptr<Active>> free_;
  bool draining_ = false;
};

}  // namespace brink::downstream
