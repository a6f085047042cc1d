#include "proxy/net/listener.hpp"

#include <sys/socket.h>

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/ip/v6_only.hpp>

namespace brink::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
using Accepted = asio::basic_stream_socket<Listener::Tcp, asio::io_context::executor_type>;
constexpr int backlog = 4096;  // the kernel lowers it to net.core.somaxconn
constexpr auto pause_time = std::chrono::milliseconds(100);
}  // namespace

Listener::Listener(Loop& loop, const Tcp::endpoint& address, OnAccept on_accept, OnError on_error)
    : loop_(loop),
      acceptor_(loop.context),
      on_accept_(std::move(on_accept)),
      on_error_(std::move(on_error)),
      pause_([](void* self) { static_cast<Listener*>(self)->accept(); }, this) {
  acceptor_.open(address.protocol());
  acceptor_.set_option(asio::socket_base::reuse_address(true));
  acceptor_.set_option(ReusePort(true));
  if (address.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(true));
  acceptor_.bind(address);
  acceptor_.listen(backlog);
  acceptor_.non_blocking(true);
}

void Listener::start() { accept(); }

Listener::Tcp::endpoint Listener::local_address() const {
  error_code ignored;
  return acceptor_.local_endpoint(ignored);
}

void Listener::accept() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_accept(peer_, [self = shared_from_this()](error_code error, Accepted socket) {
    if (!error) {  // also when stop() came in between: this client got through
      self->on_accept_(Socket::Native(std::move(socket)), self->peer_.address().to_string());
      return self->accept();
    }
    if (!self->acceptor_.is_open()) return;
    if (error == asio::error::connection_aborted) return self->accept();
    // Out of descriptors or memory: taking a rest beats spinning; the queue holds the clients meanwhile.
    self->on_error_(error);
    self->pause_.set(self->loop_.wheel, Clock::now() + pause_time);
  });
}

void Listener::stop() {
  pause_.cancel();
  error_code error;
  while (acceptor_.is_open()) {
    Tcp::endpoint peer;
    Accepted socket(loop_.context);
    acceptor_.accept(socket, peer, error);
    if (error) break;
    on_accept_(Socket::Native(std::move(socket)), peer.address().to_string());
  }
  acceptor_.close(error);
}

}  // namespace brink::net
