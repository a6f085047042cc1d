// A non-blocking byte stream over TCP or a Unix socket. Reads and writes try at once and never wait; waiting for
// readiness is the one asynchronous operation. So no buffer is held by a connection that has nothing to say. Belongs to
// one thread. The TLS stream will offer the same calls.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <span>
#include <utility>

#include "proxy/net/read_wait.hpp"

namespace brink::net {

struct IoResult {
  enum class Status : std::uint8_t { ok, again, eof, error } status = Status::ok;
  std::size_t size = 0;               // bytes moved, with ok
  boost::system::error_code error{};  // with error
};

class Socket {
 public:
  using Native =
      boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, boost::asio::io_context::executor_type>;
  explicit Socket(boost::asio::io_context& context) : native_(context) {}
  explicit Socket(Native&& native) : native_(std::move(native)) {}

  // Non-blocking mode, and TCP_NODELAY where it is TCP. Call once connected or accepted.
  void prepare(bool tcp);
  // prepare() after async_connect. Connecting leaves the reactor interested in writability for good, and then each
  // acknowledged write wakes the loop for nothing: registering anew ends that.
  void connected(boost::system::error_code& error);

  IoResult read(char* data, std::size_t size);
  bool more() const { return more_; }  // the last read left bytes, or the end, to be read at once
  // Sends the parts in one call.
  IoResult write(std::span<const boost::asio::const_buffer> parts);
  // True while the peer has neither closed nor sent anything: an idle connection that may be used.
  bool quiet();
  void shutdown_send();
  void close();  // pending waits end with operation_aborted
  void reset();  // closes with RST, so that the peer cannot take what it has for the whole
  bool is_open() const { return native_.is_open(); }

  // Waits until there is something to read (bytes, the end, an error), then calls owner.on_readable(error) from the
  // event loop, never inside this call. Keeps the owner alive meanwhile. REQUIRES: no such wait is pending.
  template <class Owner>
  void wait_read(Owner& owner) {
    read_wait_.prepare(owner);
    // What completes the wait makes the knowledge stale, whether or not its owner reads then.
    native_.start_read_wait(read_wait_, std::exchange(drained_, false));
  }
  // Only a full socket waits for writing: the operation's memory comes from Asio's own cache.
  template <class Handler>
  void wait_write(Handler&& handler) {
    native_.async_wait(Native::wait_write, std::forward<Handler>(handler));
  }
  // For a connection that is not read at present: completes when the peer resets it.
  template <class Handler>
  void wait_error(Handler&& handler) {
    native_.async_wait(Native::wait_error, std::forward<Handler>(handler));
  }
  bool failed();  // a reset arrived
  bool saw_failure() { return native_.saw_failure(); }  // the loop was told of an error or of the end of both directions
  Native& native() { return native_; }

 private:
  ReadableSocket native_;
  ReadWait read_wait_;
  bool reports_queue_ = false;  // the kernel says with each read how much is left (TCP_INQ)
  bool more_ = false;
  bool drained_ = false;  // nothing is left to read, not even the end: the next arrival is a new edge
};

}  // namespace brink::net
