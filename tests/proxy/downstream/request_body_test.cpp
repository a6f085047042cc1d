#include "proxy/downstream/request_body.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

namespace brink::downstream {
namespace {

using http::BodyError;
using http::Framing;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// A body fed as a session feeds it.
struct Feeder {
  net::BufferPool pool;
  RequestBody body;
  std::string first;

  std::size_t start(Framing framing, std::uint64_t length, std::string with_head, std::uint64_t limit = no_limit) {
    first = std::move(with_head);
    return body.start(framing, length, limit, first.data(), first.size());
  }
  std::size_t feed(std::string_view bytes) {
    net::Buffer buffer = pool.get(std::max<std::size_t>(bytes.size(), 1));
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return body.feed(buffer, bytes.size());
  }
  std::string take_all() {
    std::string all;
    for (http::BodyView view = body.view(); !view.data.empty(); view = body.view()) {
      all += view.data;
      body.consume(view.data.size());
    }
    return all;
  }
};

TEST(RequestBody, WithoutABodyAllBytesAreTheNextRequests) {
  Feeder feeder;
  EXPECT_EQ(feeder.start(Framing::none, 0, "GET / HTTP/1.1"), 14U);
  EXPECT_TRUE(feeder.body.complete());
  EXPECT_TRUE(feeder.body.view().last);
}

TEST(RequestBody, ALengthEndsTheBodyExactly) {
  Feeder feeder;
  EXPECT_EQ(feeder.start(Framing::length, 5, "abcdeGET"), 3U);
  EXPECT_TRUE(feeder.body.complete());
  EXPECT_EQ(feeder.take_all(), "abcde");
}

TEST(RequestBody, ABodyInPiecesComesInOrderAndSaysWhichIsTheLast) {
  Feeder feeder;
  feeder.start(Framing::length, 6, "ab");
  EXPECT_FALSE(feeder.body.view().last);
  EXPECT_EQ(feeder.body.read_size(), 4U) << "never reads into the next request";
  feeder.feed("cd");
  feeder.feed("ef");
  EXPECT_EQ(feeder.take_all(), "abcdef");
  EXPECT_TRUE(feeder.body.view().last);
}

TEST(RequestBody, ChunksAreDecodedAndTrailersKept) {
  Feeder feeder;
  feeder.start(Framing::chunked, 0, "3\r\nabc\r\n");
  EXPECT_EQ(feeder.feed("2\r\nde\r\n0\r\nx-sum: 1\r\n\r\nGET"), 3U);
  EXPECT_EQ(feeder.take_all(), "abcde");
  EXPECT_EQ(feeder.body.trailers(), "x-sum: 1\r\n");
}

TEST(RequestBody, MalformedChunksAreAnError) {
  Feeder feeder;
  feeder.start(Framing::chunked, 0, "0x3\r\nabc\r\n");
  EXPECT_EQ(feeder.body.error(), BodyError::malformed);
}

TEST(RequestBody, PastTheLimitItIsTooLarge) {
  Feeder chunked;
  chunked.start(Framing::chunked, 0, "", 4);
  chunked.feed("5\r\nabcde\r\n");
  EXPECT_EQ(chunked.body.error(), BodyError::too_large);

  Feeder announced;
  announced.start(Framing::length, 100, "ab");
  announced.body.set_limit(99);
  EXPECT_EQ(announced.body.error(), BodyError::too_large) << "known from Content-Length before anything is read";
}

TEST(RequestBody, CanBeSentAgainWhileNothingWasDropped) {
  Feeder feeder;
  feeder.start(Framing::length, 6, "abc");
  feeder.feed("def");
  EXPECT_EQ(feeder.take_all(), "abcdef");
  ASSERT_TRUE(feeder.body.rewind());
  EXPECT_EQ(feeder.take_all(), "abcdef");
}

TEST(RequestBody, ALongBodyIsNotKeptWhole) {
  Feeder feeder;
  const std::string piece(net::BufferPool::large, 'x');
  constexpr int pieces = 2 * RequestBody::max_retained / net::BufferPool::large;
  feeder.start(Framing::length, pieces * piece.size(), "");
  for (int i = 0; i < pieces; ++i) {
    feeder.feed(piece);
    feeder.take_all();
    EXPECT_LE(feeder.pool.bytes_lent(), RequestBody::max_retained + net::BufferPool::large);
  }
  EXPECT_FALSE(feeder.body.rewind());
}

TEST(RequestBody, AMebibyteIsKeptWhole) {
  Feeder feeder;
  const std::string piece(net::BufferPool::large, 'x');
  feeder.start(Framing::length, 16 * piece.size() + 3, "abc");
  for (int i = 0; i < 16; ++i) {
    feeder.feed(piece);
    feeder.take_all();
  }
  ASSERT_TRUE(feeder.body.rewind());
  EXPECT_EQ(feeder.take_all().size(), 16 * piece.size() + 3);
}

TEST(RequestBody, ShortPiecesKeepNoLongBuffers) {
  Feeder feeder;
  const std::string piece(1000, 'x');
  feeder.start(Framing::length, 500 * piece.size(), "");
  for (int i = 0; i < 500; ++i) {
    feeder.feed(piece);
    feeder.take_all();
  }
  EXPECT_EQ(feeder.pool.bytes_lent(), 0u);
  ASSERT_TRUE(feeder.body.rewind());
  EXPECT_EQ(feeder.take_all().size(), 500 * piece.size());
}

TEST(RequestBody, NothingIsKeptOnceItWillNotBeSentAgain) {
  Feeder feeder;
  const std::string piece(net::BufferPool::large, 'x');
  feeder.start(Framing::length, 3 * piece.size(), "");
  feeder.feed(piece);
  feeder.take_all();
  feeder.body.keep_nothing();
  EXPECT_EQ(feeder.pool.bytes_lent(), 0u);
  feeder.feed(piece);
  EXPECT_EQ(feeder.take_all(), piece);
  EXPECT_EQ(feeder.pool.bytes_lent(), 0u);
  EXPECT_FALSE(feeder.body.rewind());
}

TEST(RequestBody, ReadingAheadConsumesNothing) {
  Feeder feeder;
  feeder.start(Framing::length, 4, "ab");
  EXPECT_EQ(feeder.body.unseen(), "ab");
  EXPECT_EQ(feeder.body.unseen(), "");
  feeder.feed("cd");
  EXPECT_EQ(feeder.body.unseen(), "cd");
  EXPECT_EQ(feeder.take_all(), "abcd");
}

TEST(RequestBody, ATunnelTakesEverythingUntilItEnds) {
  Feeder feeder;
  feeder.start(Framing::none, 0, "");
  feeder.body.become_raw("early");
  feeder.feed("late");
  EXPECT_EQ(feeder.take_all(), "earlylate");
  EXPECT_FALSE(feeder.body.view().last);
  feeder.body.finish_raw();
  EXPECT_TRUE(feeder.body.view().last);
  EXPECT_EQ(feeder.pool.bytes_lent(), 0U) << "an idle tunnel holds no buffer";
}

}  // namespace
}  // namespace brink::downstream
