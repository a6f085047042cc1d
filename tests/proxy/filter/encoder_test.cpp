#include "proxy/filter/encoder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "proxy/filter/encoder_pool.hpp"
#include "tests/proxy/filter/bodies.hpp"

namespace brink::filter {
namespace {

std::string encode_whole(const EncoderSpec& spec, std::string_view body) {
  EncoderPool pool;
  const auto encoder = pool.get(spec);
  std::string out;
  EXPECT_TRUE(encoder->encode(body, false, true, out)) << encoder->error();
  return out;
}

class EncoderOf : public testing::TestWithParam<Coding> {};
INSTANTIATE_TEST_SUITE_P(, EncoderOf, testing::Values(Coding::zstd, Coding::gzip),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(EncoderOf, RoundTripsWithRandomCutsAndFlushes) {
  EncoderPool pool;
  std::mt19937 random(7);
  for (const auto& body : {std::string(), std::string("x"), json_list(1000), json_list(300'000), noise(100'000),
                           std::string(400'000, 'a')}) {
    for (int round = 0; round < 12; ++round) {
      EncoderSpec spec{.coding = GetParam(), .level = 1 + round % 7};
      if (round % 3 == 0) spec.length = body.size();
      spec.events = round % 3 == 1;
      const auto encoder = pool.get(spec);
      Judge judge(GetParam());
      std::string decoded;
      std::string_view rest = body;
      do {
        const auto most = round % 2 == 0 ? 5000U : 100'000U;
        const auto piece = rest.substr(0, random() % most);
        rest.remove_prefix(piece.size());
        std::string out = "kept";
        const bool flush = random() % 3 == 0;
        ASSERT_TRUE(encoder->encode(piece, flush, rest.empty(), out)) << encoder->error();
        ASSERT_TRUE(out.starts_with("kept"));
        ASSERT_LE(out.size(), 1024 + 2 * body.size()) << "bounded";
        decoded += judge.feed(std::string_view(out).substr(4));
        if (flush) {
          ASSERT_EQ(decoded.size(), body.size() - rest.size());
        }
      } while (!rest.empty());
      EXPECT_TRUE(judge.ended());
      EXPECT_TRUE(encoder->finished());
      ASSERT_EQ(decoded, body);
    }
  }
}

TEST_P(EncoderOf, EveryEventIsThereOnceItIsFlushed) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam(), .events = true});
  Judge judge(GetParam());
  std::size_t plain = 0, sent = 0;
  for (unsigned n = 0; n < 500; ++n) {
    std::string out;
    ASSERT_TRUE(encoder->encode(event(n), true, false, out));
    ASSERT_EQ(judge.feed(out), event(n)) << n;
    plain += event(n).size();
    sent += out.size();
  }
  EXPECT_LT(sent, plain / 3) << "flushing must not eat what compression saves";
  std::string out;
  ASSERT_TRUE(encoder->encode({}, false, true, out));
  EXPECT_EQ(judge.feed(out), "");
  EXPECT_TRUE(judge.ended());
}

TEST_P(EncoderOf, AFlushOfNothingNewIsHarmless) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam(), .events = true});
  Judge judge(GetParam());
  std::string out;
  ASSERT_TRUE(encoder->encode({}, true, false, out));
  ASSERT_TRUE(encoder->encode("data: 1\n\n", true, false, out));
  const auto size = out.size();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(encoder->encode({}, true, false, out));
  EXPECT_LE(out.size(), size + 8);
  ASSERT_TRUE(encoder->encode({}, true, true, out));
  EXPECT_EQ(judge.feed(out), "data: 1\n\n");
  EXPECT_TRUE(judge.ended());
}

// An output block that a flush fills to its last byte is where encoders lose data or repeat themselves.
TEST_P(EncoderOf, FlushesOfEverySizeEndWhereTheyShould) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam(), .level = 1});
  Judge judge(GetParam());
  for (std::size_t size = 460; size < 1400; ++size) {
    const auto body = noise(size, static_cast<unsigned>(size));
    std::string out;
    ASSERT_TRUE(encoder->encode(body, true, false, out));
    ASSERT_EQ(judge.feed(out), body) << size;
    ASSERT_LT(out.size(), body.size() + 64);
  }
}

TEST_P(EncoderOf, AFalseLengthIsAnError) {
  EncoderPool pool;
  std::string out;
  const auto longer = pool.get({.coding = GetParam(), .length = 10});
  EXPECT_TRUE(longer->encode("12345", false, false, out));
  EXPECT_FALSE(longer->encode("678901", false, true, out));
  EXPECT_STREQ(longer->error(), "the body is longer than it was said to be");
  const auto shorter = pool.get({.coding = GetParam(), .length = 10});
  EXPECT_FALSE(shorter->encode("12345", false, true, out));
  EXPECT_STREQ(shorter->error(), "the body is shorter than it was said to be");
  EXPECT_FALSE(shorter->encode("12345", false, true, out)) << "an error stays";
  EXPECT_FALSE(shorter->finished());
}

TEST_P(EncoderOf, NothingFollowsTheEnd) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam()});
  std::string out;
  ASSERT_TRUE(encoder->encode("a", false, true, out));
  const auto size = out.size();
  EXPECT_FALSE(encoder->encode("b", false, true, out));
  EXPECT_NE(encoder->error(), nullptr);
  EXPECT_EQ(out.size(), size);
}

TEST_P(EncoderOf, LevelsOutOfRangeAreClamped) {
  for (const int level : {-5, 0, 1, 19, 20, 1000}) {
    const auto body = json_list(5000);
    EXPECT_EQ(Judge(GetParam()).feed(encode_whole({.coding = GetParam(), .level = level}, body)), body) << level;
  }
}

// The command-line programs are other people's decoders.
TEST_P(EncoderOf, TheCommandLineProgramReadsIt) {
  const std::string program(to_string(GetParam()));
  if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << program << " is not installed";
  const auto folder = std::filesystem::temp_directory_path() / ("brink-encoder-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto in = (folder / ("body." + program)).string(), out = (folder / "body").string();
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam(), .events = true});
  std::string plain, encoded;
  for (unsigned n = 0; n < 50; ++n) {
    plain += event(n);
    ASSERT_TRUE(encoder->encode(event(n), true, n == 49, encoded));
  }
  std::ofstream(in, std::ios::binary) << encoded;
  EXPECT_EQ(std::system((program + " -dc < " + in + " > " + out).c_str()), 0);
  std::ifstream decoded(out, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(decoded), {}), plain);
  std::filesystem::remove_all(folder);
}

TEST(Encoder, DeclaresNoLargerWindowThanIsUseful) {
  for (const int level : {1, 3, 9, 19}) {
    const auto window = [level](std::optional<std::uint64_t> length, bool events) {
      EncoderPool pool;
      const auto encoder = pool.get({.coding = Coding::zstd, .level = level, .length = length, .events = events});
      std::string out;
      EXPECT_TRUE(encoder->encode(json_list(500), true, false, out));
      return declared_window(out);
    };
    EXPECT_LE(window(1000, false), 1024U) << level;
    EXPECT_LE(window(20'000, false), 32'768U) << level;
    EXPECT_LE(window(3'000'000, false), std::uint64_t{1} << 21) << level;
    EXPECT_LE(window(3'000'000'000, false), std::uint64_t{1} << 21) << level;
    EXPECT_LE(window({}, false), std::uint64_t{1} << 17) << level;
    EXPECT_LE(window({}, true), std::uint64_t{1} << 13) << level;
  }
  EXPECT_EQ(window_log({.length = 0}), 10);
  EXPECT_EQ(window_log({.length = 1025}), 11);
  EXPECT_EQ(window_log({.length = ~std::uint64_t{0}}), 21);
}

TEST(Encoder, AKnownLengthStandsInTheFrame) {
  const auto body = json_list(20'000);
  const auto frame = encode_whole({.coding = Coding::zstd, .length = body.size()}, body);
  EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), body.size());
  EXPECT_EQ(static_cast<unsigned char>(frame[4]) & 4, 0) << "a checksum would be four bytes that TCP and TLS have";
}

TEST(Encoder, LevelsOfGzipFollowThoseOfZstd) {
  int last = 0;
  for (int level = -3; level <= 30; ++level) {
    const auto mapped = gzip_level(level);
    EXPECT_GE(mapped, 1);
    EXPECT_LE(mapped, 9);
    EXPECT_GE(mapped, last);
    last = mapped;
  }
  EXPECT_EQ(gzip_level(1), 1);
  EXPECT_EQ(gzip_level(19), 9);
}

}  // namespace
}  // namespace brink::filter
