#include "router/retry_budget.hpp"

#include <gtest/gtest.h>

namespace brink::router {
namespace {

using namespace std::chrono_literals;
const Time start = Time{} + std::chrono::hours(24 * 30);

int taken(RetryBudget& budget, Time now, double share, int asked) {
  int count = 0;
  for (int i = 0; i < asked; ++i) count += budget.take(now, share) ? 1 : 0;
  return count;
}

TEST(RetryBudget, AFewASecondAlwaysMay) {
  RetryBudget budget;
  EXPECT_EQ(taken(budget, start, 0, 10), 3);
  EXPECT_EQ(taken(budget, start + 500ms, 0, 10), 0);
  EXPECT_EQ(taken(budget, start + 1s, 0, 10), 3);
}

TEST(RetryBudget, BeyondThemAShareOfTheRequests) {
  RetryBudget budget;
  for (int i = 0; i < 1000; ++i) budget.request(start + i * 1ms);
  EXPECT_EQ(taken(budget, start + 999ms, 0.2, 1000), 200);
  EXPECT_EQ(taken(budget, start + 5s, 0.2, 1000), 3) << "the requests are still in the window, and so are the retries";
}

TEST(RetryBudget, TheWindowMovesOn) {
  RetryBudget budget;
  for (int i = 0; i < 1000; ++i) budget.request(start);
  EXPECT_EQ(taken(budget, start + 11s, 0.2, 1000), 3);
}

}  // namespace
}  // namespace brink::router
