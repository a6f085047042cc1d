#include "proxy/net/socket.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <string>

namespace brink::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Status = IoResult::Status;

// The near end of a TCP connection over loopback; counts how often it becomes readable.
struct Near : boost::intrusive_ref_counter<Near, boost::thread_unsafe_counter> {
  explicit Near(asio::io_context& context) : socket(context) {}
  void on_readable(boost::system::error_code error) {
    ++wakes;
    last_error = error;
  }
  IoResult read(std::size_t size = 4096) {
    const IoResult result = socket.read(buffer.data(), size);
    if (result.status == Status::ok) received.append(buffer.data(), result.size);
    return result;
  }
  Socket socket;
  int wakes = 0;
  boost::system::error_code last_error;
  std::array<char, 4096> buffer{};
  std::string received;
};

struct Connection {
  Connection() : near(new Near(context)), far(context) {
    using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
    Acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    near->socket.native().connect(acceptor.local_endpoint());
    acceptor.accept(far);
    near->socket.prepare(true);
  }
  // Runs the loop until the near end was woken `wakes` times in all, or a second went by.
  bool woken(int wakes) {
    context.restart();
    asio::steady_timer limit(context, std::chrono::seconds(1));
    bool late = false;
    limit.async_wait([&](boost::system::error_code error) { late = !error; });
    while (near->wakes < wakes && !late) context.run_one();
    limit.cancel();
    context.poll();
    return near->wakes >= wakes;
  }
  void send(std::string_view text) { asio::write(far, asio::buffer(text)); }

  asio::io_context context{1};
  boost::intrusive_ptr<Near> near;
  asio::basic_stream_socket<tcp, asio::io_context::executor_type> far;
};

TEST(Socket, WakesForEachArrivalAfterItWasReadDry) {
  Connection connection;
  for (int i = 1; i <= 3; ++i) {
    connection.near->socket.wait_read(*connection.near);
    connection.send("event");
    ASSERT_TRUE(connection.woken(i));
    EXPECT_EQ(connection.near->read().status, Status::ok);
    EXPECT_FALSE(connection.near->socket.more());
  }
  EXPECT_EQ(connection.near->received, "eventeventevent");
}

TEST(Socket, WhatArrivesBetweenReadAndWaitIsNotLost) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.send("one");
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read().status, Status::ok);
  connection.send("two");  // before the wait begins
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(2));
  EXPECT_EQ(connection.near->read().status, Status::ok);
  EXPECT_EQ(connection.near->received, "onetwo");
}

TEST(Socket, AnEndThatCameWithTheBytesIsNoticed) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.send("last");
  connection.far.shutdown(tcp::socket::shutdown_send);
  ASSERT_TRUE(connection.woken(1));
  // The FIN is behind the bytes at the latest when the wait after this read is a second old.
  EXPECT_EQ(connection.near->read().status, Status::ok);
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(2));
  EXPECT_EQ(connection.near->read().status, Status::eof);
}

TEST(Socket, AWaitThatNoReadFollowedDoesNotMakeTheNextOneDeaf) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.send("a");
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read().status, Status::ok);
  connection.near->socket.wait_read(*connection.near);
  connection.send("b");
  ASSERT_TRUE(connection.woken(2));  // and the owner is busy elsewhere: it does not read
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(3));
  EXPECT_EQ(connection.near->read().status, Status::ok);
  EXPECT_EQ(connection.near->received, "ab");
}

TEST(Socket, APartialReadSaysThatThereIsMore) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.send("abcdef");
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read(2).size, 2U);
  EXPECT_TRUE(connection.near->socket.more());
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(2));
  EXPECT_EQ(connection.near->read().size, 4U);
  EXPECT_FALSE(connection.near->socket.more());
}

TEST(Socket, AResetEndsTheWait) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.far.set_option(asio::socket_base::linger(true, 0));
  connection.far.close();
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read().status, Status::error);
}

// The kernel's count of what is left does not know of a reset; the event that told of the bytes does.
TEST(Socket, AResetThatCameWithTheBytesIsNoticed) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  connection.send("last");
  connection.far.set_option(asio::socket_base::linger(true, 0));
  connection.far.close();
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read().status, Status::ok);
  EXPECT_FALSE(connection.near->socket.more());
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(2));
  EXPECT_EQ(connection.near->read().status, Status::error);
}

TEST(Socket, AResetThatCameWithTheBytesOfTheFirstWaitIsNoticed) {
  Connection connection;
  connection.send("last");
  connection.far.set_option(asio::socket_base::linger(true, 0));
  connection.far.close();
  EXPECT_EQ(connection.near->read().status, Status::ok);
  connection.near->socket.wait_read(*connection.near);
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->read().status, Status::error);
}

// The knowledge of a drained socket is worth a system call only if a healthy connection never pays it.
TEST(Socket, AHealthyConnectionNeverLooksFailed) {
  Connection connection;
  for (int i = 1; i <= 3; ++i) {
    connection.near->socket.wait_read(*connection.near);
    EXPECT_FALSE(connection.near->socket.saw_failure());
    connection.send("event");
    ASSERT_TRUE(connection.woken(i));
    EXPECT_EQ(connection.near->read().status, Status::ok);
  }
  EXPECT_FALSE(connection.near->socket.saw_failure());
}

TEST(Socket, ClosingEndsTheWaitAndLetsTheOwnerGo) {
  Connection connection;
  connection.near->socket.wait_read(*connection.near);
  EXPECT_EQ(connection.near->use_count(), 2U);
  connection.near->socket.close();
  ASSERT_TRUE(connection.woken(1));
  EXPECT_EQ(connection.near->last_error, asio::error::operation_aborted);
  EXPECT_EQ(connection.near->use_count(), 1U);
}

}  // namespace
}  // namespace brink::net
