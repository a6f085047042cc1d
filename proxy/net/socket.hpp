// A non-blocking byte stream over TCP or a Unix socket. Reads and writes try at once and never wait; waiting for
// readiness is the one asynchronous operation. So no buffer is held by a connection that has nothing to say. Belongs to
// one thread. The TLS stream will offer the same calls.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <span>

namespace brink::net {

// Memory for one pending operation, inside its owner, so that waiting allocates nothing.
class OperationMemory {
 public:
  OperationMemory() = default;
  OperationMemory(const OperationMemory&) = delete;
  OperationMemory& operator=(const OperationMemory&) = delete;

  void* allocate(std::size_t size) {
    if (used_ || size > sizeof storage_) return ::operator new(size);
    used_ = true;
    return storage_;
  }
  void deallocate(void* memory) {
    if (memory == storage_) {
      used_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::byte storage_[112];
  bool used_ = false;
};

template <class T>
struct OperationAllocator {
  using value_type = T;
  explicit OperationAllocator(OperationMemory& memory) : memory_(&memory) {}
  template <class U>
  OperationAllocator(const OperationAllocator<U>& other) : memory_(other.memory_) {}  // NOLINT: rebind converts
  T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* pointer, std::size_t) { memory_->deallocate(pointer); }
  bool operator==(const OperationAllocator&) const = default;
  OperationMemory* memory_;
};

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
  // Gathers the parts into one sendmsg.
  IoResult write(std::span<const boost::asio::const_buffer> parts);
  // True while the peer has neither closed nor sent anything: an idle connection that may be used.
  bool quiet();
  void shutdown_send();
  void close();  // pending waits end with operation_aborted
  void reset();  // closes with RST, so that the peer cannot take what it has for the whole
  bool is_open() const { return native_.is_open(); }

  // Handler: void(error_code). Completes from the event loop, never inside this call.
  template <class Handler>
  void wait_read(OperationMemory& memory, Handler&& handler) {
    native_.async_wait(Native::wait_read, boost::asio::bind_allocator(OperationAllocator<std::byte>(memory),
                                                                      std::forward<Handler>(handler)));
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
  Native& native() { return native_; }

 private:
  Native native_;
};

}  // namespace brink::net
