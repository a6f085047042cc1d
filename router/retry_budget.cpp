#include "router/retry_budget.hpp"

namespace brink::router {

bool RetryBudget::take(Time now, double share) {
  const ShareWindow::Sum sum = counts_.sum(now, window);
  const bool within = sum.marked + 1 <= share * sum.total;
  if (!within && counts_.latest(now, window).marked >= always_a_second) return false;
  counts_.add(now, window, 1, 0);
  return true;
}

}  // namespace brink::router
