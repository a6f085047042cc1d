#include "proxy/net/socket.hpp"

#include <sys/socket.h>

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace brink::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Status = IoResult::Status;

void Socket::prepare(bool tcp) {
  error_code ignored;  // a socket that already died shows it at the first read
  native_.non_blocking(true, ignored);
  if (tcp) native_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void Socket::connected(error_code& error) {
  const auto protocol = native_.remote_endpoint(error).protocol();
  if (error) return;
  const auto descriptor = native_.release(error);
  if (error) return;
  native_.assign(protocol, descriptor, error);
  if (!error) prepare(protocol.family() != AF_UNIX);
}

IoResult Socket::read(char* data, std::size_t size) {
  error_code error;
  const std::size_t count = native_.receive(asio::buffer(data, size), 0, error);
  if (!error) return {Status::ok, count, {}};
  if (error == asio::error::would_block) return {Status::again, 0, {}};
  if (error == asio::error::eof) return {Status::eof, 0, {}};
  return {Status::error, 0, error};
}

IoResult Socket::write(std::span<const asio::const_buffer> parts) {
  error_code error;
  const std::size_t count = native_.send(parts, 0, error);
  if (!error) return {Status::ok, count, {}};
  if (error == asio::error::would_block) return {Status::again, 0, {}};
  return {Status::error, 0, error};
}

bool Socket::quiet() {
  char byte;
  error_code error;
  native_.receive(asio::buffer(&byte, 1), asio::socket_base::message_peek, error);
  return error == asio::error::would_block;
}

bool Socket::failed() {
  error_code error;
  boost::asio::detail::socket_option::integer<SOL_SOCKET, SO_ERROR> pending;
  native_.get_option(pending, error);
  return error || pending.value() != 0;
}

void Socket::shutdown_send() {
  error_code ignored;  // already gone is as good
  native_.shutdown(Native::shutdown_send, ignored);
}

void Socket::close() {
  error_code ignored;
  native_.close(ignored);
}

void Socket::reset() {
  error_code ignored;
  native_.set_option(asio::socket_base::linger(true, 0), ignored);
  native_.close(ignored);
}

}  // namespace brink::net
