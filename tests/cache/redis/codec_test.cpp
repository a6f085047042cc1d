#include "cache/redis/codec.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t large = 1U << 20;
constexpr WallTime stored{1'700'000'000'123ms};

boost::intrusive_ptr<Entry> sample() {
  boost::intrusive_ptr<Entry> entry(new Entry);
  entry->key = std::string("GET\0https://a/b?c", 17);
  entry->freshness = {WallTime(1'700'000'000'000ms), 3s, 60s, 10s, 20s, true, false};
  entry->useful_until = WallTime(1'700'000'100'000ms);
  entry->url = "http://a/b?c";
  entry->route = "r";
  entry->model = "m";
  entry->tags = {"one", "", "three"};
  entry->status = 200;
  entry->head = "content-type: text/plain\r\netag: \"x\"\r\n";
  entry->body = "0123456789 0123456789 0123456789 0123456789 0123456789";
  entry->index_fields();
  return entry;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

bool same(const Entry& a, const Entry& b) {
  const auto fields = [](const Freshness& f) {
    return std::tie(f.response_time, f.initial_age, f.lifetime, f.stale_while_revalidate, f.stale_if_error,
                    f.must_revalidate, f.always_validate);
  };
  return fields(a.freshness) == fields(b.freshness) &&
         std::tie(a.key, a.kind, a.useful_until, a.url, a.route, a.model, a.tags, a.vary, a.status, a.head, a.body,
                  a.zstd) == std::tie(b.key, b.kind, b.useful_until, b.url, b.route, b.model, b.tags, b.vary, b.status,
                                      b.head, b.body, b.zstd);
}

void round_trip(const Entry& entry) {
  const Decoded decoded = decode(encode(entry, stored), large);
  ASSERT_EQ(decoded.error, DecodeError::none);
  EXPECT_TRUE(same(entry, *decoded.entry));
  EXPECT_EQ(decoded.stored_at, stored);
}

TEST(RedisCodec, EntriesComeBackWhole) {
  const auto entry = sample();
  round_trip(*entry);
  const Decoded decoded = decode(encode(*entry, stored), large);
  ASSERT_NE(decoded.entry->find("ETag"), nullptr);
  EXPECT_EQ(decoded.entry->find("ETag")->value, "\"x\"");
  Entry empty;
  round_trip(empty);

  Entry variants;
  variants.kind = Entry::Kind::variants;
  variants.vary = {{"accept", "accept-language"}, {}, {"x"}};
  round_trip(variants);
}

TEST(RedisCodec, ABodyWithItsFrameIsKeptOnce) {
  const auto entry = sample();
  std::minstd_rand random(1);
  entry->body.clear();
  for (int i = 0; i < 50'000; ++i) entry->body += static_cast<char>('a' + random() % 16);
  entry->zstd = zstd(entry->body);
  round_trip(*entry);
  EXPECT_LT(encode(*entry, stored).size(), entry->zstd.size() + 1'000);
}

TEST(RedisCodec, LargeTextIsCompressedAndNoiseIsNot) {
  const auto entry = sample();
  entry->body.assign(100'000, 'x');
  EXPECT_LT(encode(*entry, stored).size(), 1'000U);
  std::mt19937 random(1);
  for (char& c : entry->body) c = static_cast<char>(random());
  EXPECT_LT(encode(*entry, stored).size(), 101'000U);
  round_trip(*entry);
}

// What another format would do to this one: it is a mistake to change these bytes without a new version.
TEST(RedisCodec, TheHeaderIsAsDocumented) {
  const std::string bytes = encode(*sample(), stored);
  EXPECT_EQ(bytes.substr(0, 16), std::string("BRINKENT\1\0\0\0\0\0\0\1", 16));
}

TEST(RedisCodec, EveryTruncationIsAnError) {
  for (const bool compressed : {false, true}) {
    auto entry = sample();
    if (!compressed) entry = new Entry;
    const std::string bytes = encode(*entry, stored);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(decode(bytes.substr(0, size), large).error, DecodeError::none) << size;
    }
    EXPECT_NE(decode(bytes + 'x', large).error, DecodeError::none);
  }
}

TEST(RedisCodec, EveryFlippedBitIsAnError) {
  const std::string bytes = encode(*sample(), stored);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      EXPECT_NE(decode(broken, large).error, DecodeError::none) << at;
    }
  }
}

TEST(RedisCodec, WhatIsForeignOfAnotherVersionOrTooLargeIsTold) {
  std::string bytes = encode(*sample(), stored);
  EXPECT_EQ(decode("", large).error, DecodeError::truncated);
  EXPECT_EQ(decode("hello", large).error, DecodeError::foreign);
  EXPECT_EQ(decode("BRINK", large).error, DecodeError::truncated);
  bytes[8] = 2;
  EXPECT_EQ(decode(bytes, large).error, DecodeError::version);

  const auto entry = sample();
  entry->body.assign(100'000, 'x');
  EXPECT_EQ(decode(encode(*entry, stored), 100'000).error, DecodeError::too_large);
  EXPECT_EQ(decode(encode(*entry, stored), 101'000).error, DecodeError::none);
  entry->zstd = zstd(entry->body);  // a few bytes, whose frame declares many
  EXPECT_EQ(decode(encode(*entry, stored), 99'999).error, DecodeError::too_large);
  EXPECT_EQ(decode(encode(*entry, stored), 100'000).error, DecodeError::none);
}

// The checksum keeps out accidents, not whoever can write to Redis: members that make no sense are found by reading.
TEST(RedisCodec, MembersThatMakeNoSenseAreCorrupt) {
  Entry negative;
  negative.freshness.lifetime = -1s;
  EXPECT_EQ(decode(encode(negative, stored), large).error, DecodeError::corrupt);
  Entry never;
  never.useful_until = WallTime::max();
  EXPECT_EQ(decode(encode(never, stored), large).error, DecodeError::corrupt);
  Entry status;
  status.status = 1'000;
  EXPECT_EQ(decode(encode(status, stored), large).error, DecodeError::corrupt);
  Entry frame;
  frame.zstd = "no frame";
  EXPECT_EQ(decode(encode(frame, stored), large).error, DecodeError::corrupt);
  Entry tags;
  tags.tags.resize(70'000);
  EXPECT_EQ(decode(encode(tags, stored), large).error, DecodeError::corrupt);
}

TEST(RedisCodec, KeysAreHashed) {
  EXPECT_EQ(redis_key("brink:", "abc"), "brink:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace brink::cache::redis
