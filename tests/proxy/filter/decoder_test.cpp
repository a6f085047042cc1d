#include "proxy/filter/decoder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "proxy/filter/encoder_pool.hpp"
#include "tests/proxy/filter/bodies.hpp"

namespace brink::filter {
namespace {

constexpr std::uint64_t plenty = 100'000'000;

Codings codings_of(std::string_view value) {
  Codings codings;
  codings.add(value);
  EXPECT_EQ(codings.error, DecodeError::none) << value;
  return codings;
}

std::string encode(Coding coding, std::string_view body) {
  EncoderPool pool;
  std::string out;
  EXPECT_TRUE(pool.get({.coding = coding})->encode(body, false, true, out));
  return out;
}

struct Outcome {
  std::string body;
  DecodeError error = DecodeError::none;
  std::string what;
};

// As a session does it: pieces as they arrive, and after each call the decoded bytes move on.
Outcome decode(std::string_view codings, std::string_view in, std::uint64_t max_size = plenty,
               std::size_t piece = std::size_t{16} * 1024) {
  Decoder decoder(codings_of(codings), max_size);
  Outcome outcome;
  const auto failed = [&](const Decoder::Result& result) {
    outcome.error = result.error;
    outcome.what = result.what == nullptr ? "" : result.what;
    EXPECT_EQ(result.error == DecodeError::none, result.what == nullptr);
    return result.error != DecodeError::none;
  };
  while (!in.empty()) {
    auto part = in.substr(0, piece);
    in.remove_prefix(part.size());
    for (bool more = true; more;) {
      std::string out;
      const auto result = decoder.decode(part, out);
      EXPECT_LE(out.size(), Decoder::piece);
      outcome.body += out;
      if (failed(result)) return outcome;
      part.remove_prefix(result.consumed);
      more = result.more;
      EXPECT_TRUE(more || part.empty());
    }
  }
  failed(decoder.finish());
  EXPECT_EQ(decoder.size(), outcome.body.size());
  return outcome;
}

void expect_error(const Outcome& outcome, DecodeError error, std::string_view what = {}) {
  EXPECT_EQ(outcome.error, error) << outcome.what;
  if (!what.empty()) {
    EXPECT_EQ(outcome.what, what);
  }
}

// One frame of `blocks` blocks, each 128 KB of zeros in four bytes (RFC 8878 section 3.1.1.2, RLE_Block).
std::string zstd_bomb(std::size_t blocks) {
  std::string out("\x28\xb5\x2f\xfd\x00\x38", 6);  // a window of 128 KB
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto header = (131072U << 3) | (1U << 1) | (i + 1 == blocks ? 1U : 0U);
    for (unsigned shift : {0U, 8U, 16U}) out += static_cast<char>(header >> shift);
    out += '\0';
  }
  return out;
}

// Its sum is wrong, but nobody should get there. Each megabyte refers to the one before.
std::string gzip_bomb(std::size_t megabytes) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = Coding::gzip, .level = 1});
  const std::string zeros(std::size_t{1} << 20, '\0');
  std::string out, repeated;
  encoder->encode(zeros, true, false, out);
  encoder->encode(zeros, true, false, repeated);
  for (std::size_t i = 1; i < megabytes; ++i) out += repeated;
  return out;
}

std::size_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss);
}

TEST(Codings, AreReadFromTheFields) {
  EXPECT_EQ(codings_of("gzip").list[0], Coding::gzip);
  EXPECT_EQ(codings_of("X-GZip").list[0], Coding::gzip);
  EXPECT_EQ(codings_of("zstd").list[0], Coding::zstd);
  for (const auto* none : {"", "identity", " , identity ,, Identity"}) EXPECT_EQ(codings_of(none).size, 0U) << none;
  Codings two;
  two.add("gzip, identity");
  two.add(" zstd");
  ASSERT_EQ(two.size, 2U);
  EXPECT_EQ(two.list[0], Coding::gzip);
  EXPECT_EQ(two.list[1], Coding::zstd);
  for (const auto* bad : {"br", "deflate", "compress", "gzip;q=1", "gzip gzip", "gzip, br", "gzip, gzip, gzip", "*"}) {
    Codings codings;
    codings.add(bad);
    EXPECT_EQ(codings.error, DecodeError::unsupported) << bad;
  }
  EXPECT_EQ(status_of(DecodeError::unsupported), 415U);
}

class DecoderOf : public testing::TestWithParam<Coding> {
 protected:
  std::string name() const { return std::string(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(, DecoderOf, testing::Values(Coding::zstd, Coding::gzip),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(DecoderOf, RoundTripsInPiecesOfAnySize) {
  for (const auto& body :
       {std::string(), std::string("x"), json_list(1000), noise(100'000), std::string(500'000, 'a')}) {
    const auto encoded = encode(GetParam(), body);
    for (const std::size_t piece : {1UL, 7UL, 1000UL, 1UL << 24}) {
      const auto outcome = decode(name(), encoded, plenty, piece);
      expect_error(outcome, DecodeError::none);
      ASSERT_TRUE(outcome.body == body) << piece;
    }
  }
}

TEST_P(DecoderOf, TellsEachEventAsItArrives) {
  EncoderPool pool;
  const auto encoder = pool.get({.coding = GetParam(), .events = true});
  Decoder decoder(codings_of(name()), plenty);
  for (unsigned n = 0; n < 100; ++n) {
    std::string encoded, out;
    encoder->encode(event(n), true, false, encoded);
    EXPECT_EQ(decoder.decode(encoded, out).consumed, encoded.size());
    ASSERT_EQ(out, event(n));
  }
}

TEST_P(DecoderOf, ReadsOneMemberAfterAnother) {
  const auto first = encode(GetParam(), "one,"), empty = encode(GetParam(), ""), last = encode(GetParam(), "two");
  for (const std::size_t piece : {1UL, 5UL, 1000UL}) {
    const auto outcome = decode(name(), first + empty + empty + last, plenty, piece);
    expect_error(outcome, DecodeError::none);
    EXPECT_EQ(outcome.body, "one,two");
  }
}

TEST_P(DecoderOf, EveryTruncationIsMalformed) {
  const auto encoded = encode(GetParam(), json_list(300)) + encode(GetParam(), "last");
  const auto boundary = encode(GetParam(), json_list(300)).size();
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    if (size == boundary) continue;
    expect_error(decode(name(), encoded.substr(0, size)), DecodeError::malformed, "the encoded body is cut short");
  }
  expect_error(decode(name(), encoded), DecodeError::none);
}

TEST_P(DecoderOf, BytesAfterTheEndAreMalformed) {
  const auto encoded = encode(GetParam(), "body");
  for (const auto* garbage : {"x", "garbage that is longer than a header", "{}"}) {
    for (const std::size_t piece : {1UL, 1000UL}) {
      expect_error(decode(name(), encoded + garbage, plenty, piece), DecodeError::malformed);
    }
  }
  expect_error(decode(name(), encoded + std::string(1, '\0')), DecodeError::malformed);
  expect_error(decode(name(), encoded + std::string(512, '\0')), DecodeError::malformed);
}

TEST_P(DecoderOf, AnotherFormatIsMalformed) {
  const auto other = encode(GetParam() == Coding::zstd ? Coding::gzip : Coding::zstd, "body");
  expect_error(decode(name(), other), DecodeError::malformed);
  expect_error(decode(name(), "{\"model\":\"m\"}"), DecodeError::malformed);
  EXPECT_EQ(status_of(DecodeError::malformed), 400U);
}

TEST_P(DecoderOf, TheLimitIsExact) {
  const auto body = json_list(200'000);
  const auto encoded = encode(GetParam(), body);
  for (const std::size_t piece : {1UL, 1000UL, 1UL << 24}) {
    expect_error(decode(name(), encoded, body.size(), piece), DecodeError::none);
    const auto outcome = decode(name(), encoded, body.size() - 1, piece);
    expect_error(outcome, DecodeError::too_large, "the decoded body is larger than allowed");
    EXPECT_EQ(outcome.body.size(), body.size() - 1) << "what is allowed, and no byte more";
  }
  expect_error(decode(name(), encode(GetParam(), ""), 0), DecodeError::none);
  expect_error(decode(name(), encode(GetParam(), "a"), 0), DecodeError::too_large);
  EXPECT_EQ(status_of(DecodeError::too_large), 413U);
}

TEST_P(DecoderOf, AnErrorStays) {
  Decoder decoder(codings_of(name()), plenty);
  std::string out;
  EXPECT_EQ(decoder.decode("nonsense!", out).error, DecodeError::malformed);
  const auto again = decoder.decode(encode(GetParam(), "body"), out);
  EXPECT_EQ(again.error, DecodeError::malformed);
  EXPECT_EQ(again.consumed, 0U);
  EXPECT_EQ(decoder.finish().error, DecodeError::malformed);
  EXPECT_EQ(out, "");
}

TEST_P(DecoderOf, CallsWithNothingAreHarmless) {
  Decoder decoder(codings_of(name()), plenty);
  const auto encoded = encode(GetParam(), "body");
  std::string out;
  for (const char c : encoded) {
    for (int i = 0; i < 40; ++i) EXPECT_EQ(decoder.decode({}, out).error, DecodeError::none);
    EXPECT_EQ(decoder.decode({&c, 1}, out).error, DecodeError::none);
  }
  EXPECT_EQ(decoder.finish().error, DecodeError::none);
  EXPECT_EQ(out, "body");
}

// A gigabyte of zeros in a few KB (zstd) or a megabyte (gzip).
TEST_P(DecoderOf, ABombStopsAtTheLimit) {
  const auto bomb = GetParam() == Coding::zstd ? zstd_bomb(8192) : gzip_bomb(1024);
  ASSERT_LT(bomb.size(), 6'000'000U);
  const auto before = peak_kilobytes();
  Decoder decoder(codings_of(name()), 10'000'000);
  std::string_view in = bomb;
  std::size_t decoded = 0;
  Decoder::Result result;
  std::string out;
  do {
    out.clear();
    result = decoder.decode(in, out);
    in.remove_prefix(result.consumed);
    decoded += out.size();
  } while (result.error == DecodeError::none && (result.more || !in.empty()));
  EXPECT_EQ(result.error, DecodeError::too_large);
  EXPECT_EQ(decoded, 10'000'000U);
  EXPECT_LT(peak_kilobytes() - before, 12U * 1024) << "KB more than before: not the gigabyte, nor the limit";
}

TEST_P(DecoderOf, NeverFailsButByAnError) {
  std::mt19937 random(3);
  const auto good = encode(GetParam(), json_list(3000)) + encode(GetParam(), noise(500));
  for (int round = 0; round < 3000; ++round) {
    auto bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const auto outcome = decode(name(), bytes, 20'000, 1 + random() % 2000);
    EXPECT_LE(outcome.body.size(), 20'000U);
  }
}

TEST(Decoder, TakesTwoCodingsOffInReverse) {
  const auto body = json_list(150'000);
  const auto gzip_then_zstd = encode(Coding::zstd, encode(Coding::gzip, body));
  const auto zstd_then_gzip = encode(Coding::gzip, encode(Coding::zstd, body));
  for (const std::size_t piece : {1UL, 1000UL, 1UL << 24}) {
    EXPECT_TRUE(decode("gzip, zstd", gzip_then_zstd, plenty, piece).body == body);
    EXPECT_TRUE(decode("zstd, gzip", zstd_then_gzip, plenty, piece).body == body);
    expect_error(decode("gzip, zstd", gzip_then_zstd, body.size(), piece), DecodeError::none);
    expect_error(decode("gzip, zstd", gzip_then_zstd, body.size() - 1, piece), DecodeError::too_large);
  }
  expect_error(decode("zstd, gzip", gzip_then_zstd), DecodeError::malformed);
  expect_error(decode("gzip, zstd", encode(Coding::zstd, encode(Coding::gzip, body).substr(0, 500))),
               DecodeError::malformed, "the encoded body is cut short");
  expect_error(decode("gzip, gzip", encode(Coding::gzip, encode(Coding::gzip, noise(90'000))), 90'000),
               DecodeError::none);
}

// Members that hold nothing hide work behind a body of no bytes.
TEST(Decoder, WorkBetweenTwoCodingsIsBounded) {
  std::string nothing;
  const auto member = encode(Coding::gzip, "");
  while (nothing.size() < 20'000'000) nothing += member;
  const auto outcome = decode("gzip, zstd", encode(Coding::zstd, nothing), 1'000'000);
  expect_error(outcome, DecodeError::too_large, "the body is larger than allowed between its codings");
}

TEST(Decoder, RefusesZstdWindowsAbove8MB) {
  const auto frame = [](int window_log) {
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
    std::string out(1000, '\0');
    ZSTD_inBuffer in{"body", 4, 0};
    ZSTD_outBuffer room{out.data(), out.size(), 0};
    ZSTD_compressStream2(context.get(), &room, &in, ZSTD_e_flush);
    ZSTD_compressStream2(context.get(), &room, &in, ZSTD_e_end);
    out.resize(room.pos);
    return out;
  };
  EXPECT_EQ(declared_window(frame(23)), std::uint64_t{1} << 23);
  EXPECT_EQ(decode("zstd", frame(23)).body, "body");
  expect_error(decode("zstd", frame(24)), DecodeError::malformed, "a zstd window larger than 8 MB");
  expect_error(decode("zstd", frame(27)), DecodeError::malformed, "a zstd window larger than 8 MB");
}

TEST(Decoder, ReadsSkippableFramesAndRefusesOlderFormats) {
  const auto body = encode(Coding::zstd, "body");
  const std::string skippable("\x5f\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  for (const std::size_t piece : {1UL, 3UL, 1000UL}) {
    EXPECT_EQ(decode("zstd", skippable + body + skippable, plenty, piece).body, "body");
    expect_error(decode("zstd", skippable + body + skippable, plenty, piece), DecodeError::none);
    expect_error(decode("zstd", "\x27\xb5\x2f\xfd and so on", plenty, piece), DecodeError::malformed,
                 "not a zstd frame");
    expect_error(decode("zstd", body + "\x25\xb5\x2f\xfd", plenty, piece), DecodeError::malformed, "not a zstd frame");
  }
  expect_error(decode("zstd", skippable.substr(0, 9)), DecodeError::malformed, "the encoded body is cut short");
}

TEST(Decoder, WithoutACodingItTakesNothing) {
  Codings unknown;
  unknown.add("br");
  for (const auto& codings : {Codings{}, unknown}) {
    Decoder decoder(codings, plenty);
    std::string out;
    EXPECT_EQ(decoder.decode("body", out).error, DecodeError::unsupported);
    EXPECT_EQ(decoder.finish().error, DecodeError::unsupported);
  }
}

TEST(Decoder, ChecksWhatTheFormatsSum) {
  auto gzip = encode(Coding::gzip, "body");
  gzip[gzip.size() - 6] = static_cast<char>(gzip[gzip.size() - 6] ^ 1);
  expect_error(decode("gzip", gzip), DecodeError::malformed, "a broken gzip member");
}

}  // namespace
}  // namespace brink::filter
