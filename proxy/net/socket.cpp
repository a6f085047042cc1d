#include "proxy/net/socket.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>

namespace brink::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Status = IoResult::Status;

void Socket::prepare(bool tcp) {
  error_code ignored;  // a socket that already died shows it at the first read
  native_.non_blocking(true, ignored);
  native_.clear_failure();
  if (!tcp) return;
  native_.set_option(asio::ip::tcp::no_delay(true), ignored);
  const int on = 1;
  reports_queue_ = ::setsockopt(native_.native_handle(), SOL_TCP, TCP_INQ, &on, sizeof on) == 0;
}

void Socket::connected(error_code& error) {
  const auto protocol = native_.remote_endpoint(error).protocol();
  if (error) return;
  const auto descriptor = native_.release(error);
  if (error) return;
  native_.assign(protocol, descriptor, error);
  if (!error) prepare(protocol.family() != AF_UNIX);
}

// Asks for the queue's length along with the bytes: 0 says that neither bytes nor the end are left (the kernel counts a
// FIN that has arrived as one byte), so the wait that follows needs no look at the socket.
IoResult Socket::read(char* data, std::size_t size) {
  iovec part{data, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (reports_queue_) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t count = 0;
  do {
    count = ::recvmsg(native_.native_handle(), &message, 0);
  } while (count < 0 && errno == EINTR);
  drained_ = more_ = false;
  if (count > 0) {
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (reports_queue_ && header != nullptr && header->cmsg_level == SOL_TCP && header->cmsg_type == TCP_CM_INQ) {
      int left = 0;
      std::memcpy(&left, CMSG_DATA(header), sizeof left);
      drained_ = left == 0;
      more_ = !drained_;
    }
    return {Status::ok, static_cast<std::size_t>(count), {}};
  }
  if (count == 0) return {Status::eof, 0, {}};
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    drained_ = true;
    return {Status::again, 0, {}};
  }
  return {Status::error, 0, error_code(errno, boost::system::system_category())};
}

// Copying a few small parts together costs less than the kernel's handling of a vector of them.
IoResult Socket::write(std::span<const asio::const_buffer> parts) {
  constexpr std::size_t small = 4096;
  std::array<char, small> joined;
  error_code error;
  std::size_t count = 0;
  if (parts.size() == 1) {
    count = native_.send(parts[0], 0, error);
  } else if (asio::buffer_size(parts) <= small) {
    const std::size_t size = asio::buffer_copy(asio::buffer(joined), parts);
    count = native_.send(asio::buffer(joined, size), 0, error);
  } else {
    count = native_.send(parts, 0, error);
  }
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
