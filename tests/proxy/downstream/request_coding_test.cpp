// RequestBody with content codings: what a body is once they are taken off, however it arrives.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "proxy/downstream/request_body.hpp"
#include "proxy/filter/compress_whole.hpp"

namespace brink::downstream {
namespace {

using http::BodyError;
using http::Framing;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

filter::Codings zstd() {
  filter::Codings codings;
  codings.add("zstd");
  return codings;
}

std::string words(std::size_t size) {
  std::string text;
  while (text.size() < size) text += "word " + std::to_string(text.size() * 7919 % 1000) + ", ";
  text.resize(size);
  return text;
}

struct Feeder {
  net::BufferPool pool;
  net::Buffer buffer;  // of the last feed(), unless it was taken over
  RequestBody body;
  std::string first;

  void start(std::uint64_t length, std::string with_head, std::uint64_t limit = no_limit) {
    first = std::move(with_head);
    body.start(Framing::length, length, limit, first.data(), first.size());
  }
  std::size_t feed(std::string_view bytes) {
    buffer = pool.get(std::max<std::size_t>(bytes.size(), 1));
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

TEST(RequestCoding, WhatCameWithTheHeadAndWhatComesLaterIsDecoded) {
  const std::string text = words(200'000);
  const std::string encoded = filter::compress_whole(text, 3);
  for (const std::size_t with_head : {std::size_t{0}, std::size_t{1}, std::size_t{100}, encoded.size()}) {
    Feeder feeder;
    feeder.start(encoded.size(), encoded.substr(0, with_head));
    feeder.body.decode(zstd());
    std::string all = feeder.take_all();
    for (std::size_t at = with_head; at < encoded.size(); at += 1000) {
      EXPECT_EQ(feeder.feed(std::string_view(encoded).substr(at, 1000)), 0U);
      all += feeder.take_all();
    }
    EXPECT_EQ(feeder.body.error(), BodyError::none) << feeder.body.error_text();
    EXPECT_TRUE(feeder.body.drained());
    EXPECT_EQ(all, text);
  }
}

TEST(RequestCoding, TheLimitIsOfDecodedBytes) {
  const std::string encoded = filter::compress_whole(std::string(100'000, 'x'), 3);
  Feeder within;
  within.start(encoded.size(), encoded, 100'000);
  within.body.decode(zstd());
  EXPECT_EQ(within.body.error(), BodyError::none);

  Feeder above;
  above.start(encoded.size(), encoded, 99'999);
  EXPECT_EQ(above.body.error(), BodyError::none) << "as it is, it is small";
  above.body.decode(zstd());
  EXPECT_EQ(above.body.error(), BodyError::too_large);
}

TEST(RequestCoding, CutShortOrBrokenIsAnErrorOnceItIsKnown) {
  const std::string encoded = filter::compress_whole(words(5000), 3);
  Feeder cut;
  cut.start(encoded.size() - 2, encoded.substr(0, encoded.size() - 2));
  cut.body.decode(zstd());
  EXPECT_EQ(cut.body.error(), BodyError::undecodable);

  Feeder broken;
  broken.start(1000, "no zstd");
  broken.body.decode(zstd());
  EXPECT_EQ(broken.body.error(), BodyError::undecodable);
}

TEST(RequestCoding, TheNextRequestsBytesAreNotDecoded) {
  const std::string encoded = filter::compress_whole(words(5000), 3);
  Feeder feeder;
  feeder.start(encoded.size(), "");
  feeder.body.decode(zstd());
  EXPECT_EQ(feeder.feed(encoded + "GET / HTTP/1.1"), 14U);
  EXPECT_EQ(std::string(feeder.body.last_read_end() - 14, 14), "GET / HTTP/1.1");
  EXPECT_EQ(feeder.take_all(), words(5000));
}

TEST(RequestCoding, ResetForgetsTheCoding) {
  const std::string encoded = filter::compress_whole(words(5000), 3);
  Feeder feeder;
  feeder.start(encoded.size(), encoded);
  feeder.body.decode(zstd());
  feeder.body.reset();
  feeder.start(5, "plain");
  EXPECT_EQ(feeder.take_all(), "plain");
}

TEST(RequestBodyCopy, IsWhatIsNotConsumed) {
  Feeder feeder;
  feeder.start(9, "abc");
  feeder.feed("def");
  feeder.feed("ghi");
  EXPECT_EQ(feeder.body.copy(), "abcdefghi");
  feeder.body.consume(4);
  EXPECT_EQ(feeder.body.copy(), "efghi");
  EXPECT_EQ(feeder.take_all(), "efghi") << "copying consumes nothing";
  EXPECT_EQ(feeder.body.copy(), "");
}

TEST(RequestBodyCopy, OfADecodedBodyIsTheDecodedOne) {
  const std::string text = words(150'000);
  const std::string encoded = filter::compress_whole(text, 3);
  Feeder feeder;
  feeder.start(encoded.size(), encoded);
  feeder.body.decode(zstd());
  EXPECT_EQ(feeder.body.copy(), text);
}

}  // namespace
}  // namespace brink::downstream
