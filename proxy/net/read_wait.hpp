// Waiting for readability without a system call. Asio's own async_wait makes epoll look again (EPOLL_CTL_MOD) each
// time, because it cannot know whether the socket was read dry; we can (Socket::read), and an edge-triggered epoll will
// tell of what comes next. That is one system call in four on a stream of small events;
// docs/decisions/0007-read-waits.md has the figures. It uses Asio's reactor as Asio's own operations do, which is not a
// public interface: pinned to Boost 1.81.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/detail/epoll_reactor.hpp>
#include <boost/asio/detail/reactor_op.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/version.hpp>
#include <type_traits>

static_assert(BOOST_VERSION == 108100, "read_wait.hpp uses Asio's reactor directly and was checked against Boost 1.81");

namespace brink::net {

// The reactor notes for each kind of operation whether an event has come since it was last tried. An error or hang-up
// sets the note of all kinds, so that of the exceptional kind, which we never try, tells of nothing else (but urgent
// data). The member is private; naming it in an explicit instantiation is the one way to it ([temp.spec.general]/6).
using Descriptor = std::remove_pointer_t<boost::asio::detail::epoll_reactor::per_descriptor_data>;
using EventNotes = bool (Descriptor::*)[boost::asio::detail::epoll_reactor::max_ops];
template <EventNotes Member>
struct EventNotesAccess {
  friend bool* event_notes(Descriptor& descriptor) { return descriptor.*Member; }
};
template struct EventNotesAccess<&Descriptor::try_speculative_>;
bool* event_notes(Descriptor& descriptor);

// The pending operation, a member of its owner's socket: it allocates nothing. One at a time.
class ReadWait : public boost::asio::detail::reactor_op {
 public:
  ReadWait() : reactor_op({}, &ReadWait::on_perform, &ReadWait::on_complete) {}
  ReadWait(const ReadWait&) = delete;
  ReadWait& operator=(const ReadWait&) = delete;

  // `owner` is reference-counted and is kept alive until the operation completes or its loop is destroyed.
  template <class Owner>
  void prepare(Owner& owner) {
    ec_ = {};
    intrusive_ptr_add_ref(&owner);
    owner_ = &owner;
    notify_ = [](void* target, boost::system::error_code error, bool invoke) {
      const boost::intrusive_ptr<Owner> kept(static_cast<Owner*>(target), false);
      if (invoke) kept->on_readable(error);
    };
  }

 private:
  // Readiness is all that is wanted; "exhausted" tells the reactor to wait for the next edge before it asks again.
  static status on_perform(reactor_op*) { return done_and_exhausted; }
  static void on_complete(void* scheduler, boost::asio::detail::operation* base, const boost::system::error_code&,
                          std::size_t) {
    auto* self = static_cast<ReadWait*>(base);
    self->notify_(self->owner_, self->ec_, scheduler != nullptr);
  }

  void (*notify_)(void*, boost::system::error_code, bool) = nullptr;
  void* owner_ = nullptr;
};

// A socket that can start a ReadWait.
class ReadableSocket : public boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                               boost::asio::io_context::executor_type> {
 public:
  using Base =
      boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, boost::asio::io_context::executor_type>;
  explicit ReadableSocket(boost::asio::io_context& context) : Base(context) {}
  explicit ReadableSocket(Base&& other) : Base(std::move(other)) {}

  // Before the first wait: a fresh registration has every note set.
  void clear_failure() { failure_note() = false; }
  // An error, a reset or the end of both directions was reported. It may have come together with bytes.
  bool saw_failure() { return failure_note(); }

  // `drained`: nothing is there to read, so only a new arrival counts. Otherwise epoll looks again.
  void start_read_wait(ReadWait& wait, bool drained) {
    using Reactor = boost::asio::detail::epoll_reactor;
    auto& implementation = impl_.get_implementation();
    Reactor& reactor = boost::asio::use_service<Reactor>(get_executor().context());
    reactor.start_op(Reactor::read_op, implementation.socket_, implementation.reactor_data_, &wait, false,
                     drained && !saw_failure());
  }

 private:
  bool& failure_note() {
    return event_notes(*impl_.get_implementation().reactor_data_)[boost::asio::detail::epoll_reactor::except_op];
  }
};

}  // namespace brink::net
