#include "proxy/filter/encoder_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/filter/compress_whole.hpp"
#include "tests/proxy/filter/bodies.hpp"

namespace brink::filter {
namespace {

std::string encode(EncoderPool& pool, const EncoderSpec& spec, std::string_view body) {
  const auto encoder = pool.get(spec);
  std::string out;
  EXPECT_TRUE(encoder->encode(body, false, true, out));
  return out;
}

TEST(EncoderPool, ReusesContexts) {
  EncoderPool pool;
  const auto body = json_list(1000);
  for (const auto coding : {Coding::zstd, Coding::gzip}) {
    const auto before = pool.stats();
    const auto first = encode(pool, {.coding = coding, .length = body.size()}, body);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(encode(pool, {.coding = coding, .length = body.size()}, body), first);
    EXPECT_EQ(pool.stats().made - before.made, 1U);
    EXPECT_EQ(pool.stats().reused - before.reused, 100U);
  }
  EXPECT_EQ(pool.stats().lent, 0U);
  EXPECT_EQ(pool.stats().kept, 2U);
}

TEST(EncoderPool, AnotherLevelOnTheSameContextIsThatLevel) {
  const auto body = json_list(50'000);
  for (const auto coding : {Coding::zstd, Coding::gzip}) {
    EncoderPool pool, fresh;
    const auto expected = encode(fresh, {.coding = coding, .level = 9}, body);
    encode(pool, {.coding = coding, .level = 1}, body);
    EXPECT_EQ(encode(pool, {.coding = coding, .level = 9}, body), expected);
    EXPECT_EQ(pool.stats().made, 1U);
  }
}

TEST(EncoderPool, AnAbandonedBodyLeavesNoTrace) {
  const auto body = json_list(1000);
  for (const auto coding : {Coding::zstd, Coding::gzip}) {
    EncoderPool pool;
    const auto expected = encode(pool, {.coding = coding, .events = true}, body);
    {
      const auto abandoned = pool.get({.coding = coding, .events = true});
      std::string out;
      abandoned->encode(noise(5000), true, false, out);
    }
    {
      const auto failed = pool.get({.coding = coding, .length = 3});
      std::string out;
      failed->encode("12345", false, true, out);
    }
    EXPECT_EQ(encode(pool, {.coding = coding, .events = true}, body), expected);
  }
}

TEST(EncoderPool, LendsNoMoreThanItMay) {
  EncoderPool pool({.max_lent = 2});
  auto a = pool.get({});
  auto b = pool.get({});
  EXPECT_FALSE(pool.get({}));
  EXPECT_EQ(pool.stats().refused, 1U);
  EXPECT_EQ(pool.stats().lent, 2U);
  b.reset();
  EXPECT_TRUE(pool.get({}));
}

TEST(EncoderPool, KeepsNoMoreBytesThanItMay) {
  EncoderPool pool({.max_kept = std::size_t{1024} * 1024});
  {
    std::vector<EncoderPool::Handle> lent;
    for (int i = 0; i < 10; ++i) lent.push_back(pool.get({.coding = Coding::gzip}));
  }
  EXPECT_EQ(pool.stats().kept, 3U) << "of 268 KB each";
  EXPECT_LE(pool.stats().kept_bytes, 1024U * 1024);
  encode(pool, {.level = 19}, json_list(100'000));
  EXPECT_EQ(pool.stats().kept, 3U) << "a context as large as that is not kept";
  pool.get({.coding = Coding::gzip});
  EXPECT_EQ(pool.stats().kept, 3U);
  EXPECT_LE(pool.stats().kept_bytes, 1024U * 1024);
}

// The numbers that docs/compression.md states: whoever changes a window sees what it costs.
TEST(EncoderPool, ContextsTakeWhatIsStated) {
  EncoderPool pool;
  for (const int level : {1, 3, 9, 19}) {
    const auto zstd = pool.get({.coding = Coding::zstd, .level = level, .events = true});
    const auto gzip = pool.get({.coding = Coding::gzip, .level = level, .events = true});
    std::string out;
    for (unsigned n = 0; n < 100; ++n) {
      ASSERT_TRUE(zstd->encode(event(n), true, false, out));
      ASSERT_TRUE(gzip->encode(event(n), true, false, out));
    }
    EXPECT_LT(zstd->memory(), 96U * 1024) << level;
    EXPECT_LT(gzip->memory(), 60U * 1024) << level;
  }
  EXPECT_LT(pool.get({.coding = Coding::zstd, .level = 3})->memory(), 1800U * 1024);
  EXPECT_LT(pool.get({.coding = Coding::zstd, .level = 19})->memory(), 6U * 1024 * 1024);
  EXPECT_LT(pool.get({.coding = Coding::gzip})->memory(), 280U * 1024);
}

TEST(CompressWhole, MakesOneFrameThatAClientMayGet) {
  const auto body = json_list(20'000);
  const auto frame = compress_whole(body);
  EXPECT_LT(frame.size(), body.size() / 3);
  EXPECT_EQ(ZSTD_findFrameCompressedSize(frame.data(), frame.size()), frame.size());
  EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), body.size());
  EXPECT_LE(declared_window(frame), 32'768U);
  EXPECT_EQ(Judge(Coding::zstd).feed(frame), body);
  EXPECT_LE(declared_window(compress_whole(std::string(20'000'000, 'a'))), std::uint64_t{1} << 21);
}

TEST(CompressWhole, IsEmptyUnlessItSavesATenth) {
  EXPECT_EQ(compress_whole(""), "");
  EXPECT_EQ(compress_whole("a short one"), "");
  EXPECT_EQ(compress_whole(noise(10'000)), "");
  EXPECT_EQ(compress_whole(noise(10'000) + std::string(1000, 'a')), "") << "9 %";
  EXPECT_NE(compress_whole(noise(10'000) + std::string(1300, 'a')), "") << "11 %";
}

TEST(CompressWhole, UsesAWorkersPool) {
  EncoderPool pool;
  const auto body = json_list(5000);
  EXPECT_EQ(compress_whole(body, 3, &pool), compress_whole(body, 3));
  EXPECT_EQ(compress_whole(body, 3, &pool), compress_whole(body, 3));
  EXPECT_EQ(pool.stats().made, 1U);
  EXPECT_EQ(pool.stats().reused, 1U);
  EncoderPool none({.max_lent = 0});
  EXPECT_EQ(compress_whole(body, 3, &none), "");
}

}  // namespace
}  // namespace brink::filter
