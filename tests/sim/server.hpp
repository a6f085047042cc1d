// The simulator as a server: listeners and the connections they accept. Runs on the given io_context, which one thread
// runs; must outlive its last handler. The constructor throws std::exception when an address cannot be used.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <optional>

#include "tests/sim/context.hpp"

namespace brink::sim {

class Server {
 public:
  Server(asio::io_context& io, ServerConfig config);
  ~Server();  // removes the Unix socket's file
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, as `127.0.0.1:40000`; REQUIRES: a TCP listener.
  std::string tcp_address() const;
  std::uint16_t port() const;

 private:
  template <class Protocol>
  using Acceptor = asio::basic_socket_acceptor<Protocol, Executor>;

  void listen_tcp(const std::string& address);
  void listen_unix(const std::string& path);
  template <class Protocol>
  void accept(Acceptor<Protocol>& acceptor);

  Context context_;
  std::optional<Acceptor<asio::ip::tcp>> tcp_;
  std::optional<Acceptor<asio::local::stream_protocol>> unix_;
  Timer retry_;  // after accept failed for want of descriptors
};

}  // namespace brink::sim
