#include "tests/sim/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace brink::sim {
namespace {

using std::chrono::milliseconds;

FaultSet parsed(std::string_view text) {
  FaultSet faults;
  parse_faults(text, faults);
  return faults;
}

std::string complaint(std::string_view text) {
  try {
    parsed(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Faults, every_kind_is_understood) {
  const FaultSet faults = parsed(
      "latency=500ms, status=429;retry-after=2, reset, hang, late-first-token=2s, cut=5, stall=6;for=1m, "
      "malformed-chunk=7, "
      "no-done");
  EXPECT_EQ(faults.latency, milliseconds(500));
  EXPECT_EQ(faults.status, 429U);
  EXPECT_EQ(faults.retry_after, 2U);
  EXPECT_TRUE(faults.reset);
  EXPECT_TRUE(faults.hang);
  EXPECT_EQ(faults.late_first_token, milliseconds(2000));
  EXPECT_EQ(faults.cut_after, 5U);
  EXPECT_EQ(faults.stall_after, 6U);
  EXPECT_EQ(faults.stall_for, milliseconds(60000));
  EXPECT_EQ(faults.malformed_after, 7U);
  EXPECT_TRUE(faults.no_done);
}

TEST(Faults, mistakes_are_named) {
  EXPECT_NE(complaint("latncy=5ms").find("there are latency, status"), std::string::npos);
  EXPECT_NE(complaint("latency=5").find("500ms"), std::string::npos);
  EXPECT_NE(complaint("latency=25h").find("duration"), std::string::npos);
  EXPECT_NE(complaint("latency=2000m").find("longer than a day"), std::string::npos);
  EXPECT_NE(complaint("latency").find("needs a value"), std::string::npos);
  EXPECT_NE(complaint("reset=1").find("takes no value"), std::string::npos);
  EXPECT_NE(complaint("status=200").find("400 to 599"), std::string::npos);
  EXPECT_NE(complaint("cut=five").find("whole number"), std::string::npos);
  EXPECT_NE(complaint("stall=5;until=2s").find("no such parameter of stall"), std::string::npos);
  EXPECT_NE(complaint("reset,,hang"), "");
}

TEST(FaultBook, a_rule_applies_to_its_paths_as_often_as_it_says) {
  FaultBook book(1);
  FaultRule rule;
  rule.text = "status=500";
  rule.count = 2;
  book.set_rules({rule});
  EXPECT_FALSE(book.draw("/health", "").status);
  EXPECT_TRUE(book.draw("/v1/models", "").status);
  EXPECT_TRUE(book.draw("/v1/models", "").status);
  EXPECT_FALSE(book.draw("/v1/models", "").status);
}

TEST(FaultBook, the_request_s_own_header_wins) {
  FaultBook book(1);
  FaultRule rule;
  rule.text = "status=429;retry-after=9";
  book.set_rules({rule});
  const FaultSet faults = book.draw("/v1/models", "status=503");
  EXPECT_EQ(faults.status, 503U);
  EXPECT_FALSE(faults.retry_after);  // it belonged to the other status
}

TEST(FaultBook, probability_is_kept_and_repeats_with_the_seed) {
  const auto draws = [](std::uint64_t seed) {
    FaultBook book(seed);
    FaultRule rule;
    rule.text = "reset";
    rule.probability = 0.25;
    book.set_rules({rule});
    std::string pattern;
    for (int i = 0; i < 1000; ++i) pattern += book.draw("/v1/x", "").reset ? '1' : '0';
    return pattern;
  };
  const std::string pattern = draws(3);
  EXPECT_EQ(pattern, draws(3));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(pattern, '1')), 250, 60);
}

}  // namespace
}  // namespace brink::sim
