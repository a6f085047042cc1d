#include "proxy/observe/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace brink::observe {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string said(auto action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, ALineHasItsTimeAndLevel) {
  EXPECT_THAT(said([] { log_warn("careful"); }),
              MatchesRegex("[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z WARN careful\n"));
  EXPECT_THAT(said([] { log_info("100% {} sure"); }), HasSubstr("Z INFO 100% {} sure\n"));
  EXPECT_THAT(said([] { log_error("bad"); }), HasSubstr("Z ERROR bad\n"));
}

TEST(Log, TheLevelDecides) {
  EXPECT_EQ(said([] { log_debug("detail"); }), "");
  set_log_level(LogLevel::debug);
  EXPECT_THAT(said([] { log_debug("detail"); }), HasSubstr("DEBUG detail"));
  set_log_level(LogLevel::error);
  EXPECT_EQ(said([] { log_warn("careful"); }), "");
  set_log_level(LogLevel::info);
}

TEST(Log, AMessageCannotForgeALine) {
  EXPECT_THAT(said([] { log_info("a\n2026-12-01 ERROR\x1b[0m"); }), HasSubstr("a\\x0a2026-12-01 ERROR\\x1b[0m\n"));
}

TEST(LogLimit, OneLineASecondAndTheRestIsCounted) {
  LogLimit limit;
  const router::Time t0{};
  EXPECT_EQ(limit.admit(t0), 0U);
  EXPECT_EQ(limit.admit(t0 + 1ms), std::nullopt);
  EXPECT_EQ(limit.admit(t0 + 999ms), std::nullopt);
  EXPECT_EQ(limit.admit(t0 + 1s), 2U);
  EXPECT_EQ(limit.admit(t0 + 5s), 0U);
}

TEST(LogLimit, ThreadsAtOnceGetOneLineTogether) {
  LogLimit limit;
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) passed += limit.admit(router::Time{}).has_value();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(passed, 1);
  EXPECT_EQ(limit.admit(router::Time{} + 1s), 3999U);
}

TEST(LogLimit, ALineSaysHowManyWereLeftOut) {
  LogLimit limit;
  EXPECT_THAT(said([&] { log_warn(limit, "full"); }), HasSubstr("WARN full\n"));
  EXPECT_EQ(said([&] { log_warn(limit, "full"); }), "");
}

}  // namespace
}  // namespace brink::observe
