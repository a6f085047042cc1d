#include "proxy/net/socket.hpp"

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
