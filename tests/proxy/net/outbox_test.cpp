#include "proxy/net/outbox.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

namespace brink::net {
namespace {

// Two ends of one connection, the near one with a small send buffer.
struct Pair {
  Pair() : near(context), far(context) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    const int size = 4096;
    ::setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    const boost::asio::generic::stream_protocol protocol(AF_UNIX, 0);
    near.native().assign(protocol, fds[0]);
    far.native().assign(protocol, fds[1]);
    near.prepare(false);
    far.prepare(false);
  }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> piece{};
    for (;;) {
      const IoResult result = far.read(piece.data(), piece.size());
      if (result.status != IoResult::Status::ok) return all;
      all.append(piece.data(), result.size);
    }
  }
  boost::asio::io_context context{1};
  Socket near, far;
};

TEST(Outbox, SendsHeadBodyAndTailInOrder) {
  Pair pair;
  Outbox out;
  EXPECT_EQ(out.send(pair.near, "head ", "body ", "tail"), Outbox::Result::done);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(pair.read_all(), "head body tail");
}

TEST(Outbox, KeepsWhatTheKernelDoesNotTake) {
  Pair pair;
  Outbox out;
  std::string head(100'000, 'h');
  const std::string expected_head = head;
  const std::string body(300'000, 'b');
  ASSERT_EQ(out.send(pair.near, head, body, "end"), Outbox::Result::pending);
  head.assign(head.size(), 'X');  // the head was copied
  std::string received;
  Outbox::Result result = Outbox::Result::pending;
  while (result == Outbox::Result::pending) {
    received += pair.read_all();
    result = out.resume(pair.near);
  }
  received += pair.read_all();
  EXPECT_EQ(result, Outbox::Result::done);
  EXPECT_EQ(received, expected_head + body + "end");
}

TEST(Outbox, SaysWhenThePeerIsGone) {
  Pair pair;
  pair.far.close();
  Outbox out;
  EXPECT_EQ(out.send(pair.near, "x", {}, {}), Outbox::Result::failed);
}

TEST(Socket, IsQuietOnlyWhileThePeerSaysNothing) {
  Pair pair;
  EXPECT_TRUE(pair.near.quiet());
  Outbox out;
  out.send(pair.far, "unasked", {}, {});
  EXPECT_FALSE(pair.near.quiet());
}

TEST(Socket, IsNotQuietOnceThePeerClosed) {
  Pair pair;
  pair.far.close();
  EXPECT_FALSE(pair.near.quiet());
}

}  // namespace
}  // namespace brink::net
