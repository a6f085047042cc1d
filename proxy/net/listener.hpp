// Accepts connections on one address for one worker. Each worker has its own socket on the address (SO_REUSEPORT), so
// the kernel spreads clients and no worker waits for another.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "proxy/net/loop.hpp"
#include "proxy/net/socket.hpp"

namespace brink::net {

class Listener : public std::enable_shared_from_this<Listener> {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
  using Tcp = boost::asio::ip::tcp;
  // What is done with a connection; `peer` is its numeric address.
  using OnAccept = std::function<void(Socket::Native&& socket, std::string peer)>;
  using OnError = std::function<void(boost::system::error_code error)>;

  // Binds and listens at once, so that errors show where they can be reported. Throws boost::system::system_error.
  Listener(Loop& loop, const Tcp::endpoint& address, OnAccept on_accept, OnError on_error);

  void start();  // on the loop's thread, as stop()
  // Takes what waits in the queue, so that no client that got through is reset, then closes.
  void stop();
  Tcp::endpoint local_address() const;

 private:
  void accept();

  Loop& loop_;
  Acceptor acceptor_;
  Tcp::endpoint peer_;
  OnAccept on_accept_;
  OnError on_error_;
  Timer pause_;  // after running out of descriptors
};

}  // namespace brink::net
