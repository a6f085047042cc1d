// Keeps retries from multiplying the load when everything fails: of the requests of the last ten seconds only a share
// may be retried, and so that a quiet cluster may retry too, three a second always may. One a cluster in the process;
// any thread.
#pragma once

#include "router/share_window.hpp"

namespace brink::router {

class RetryBudget {
 public:
  static constexpr std::uint32_t always_a_second = 3;

  void request(Time now) { counts_.add(now, window, 0, 1); }
  // False: no retry now. Workers that ask in the same moment may take one more each.
  bool take(Time now, double share);

 private:
  static constexpr auto window = std::chrono::seconds(10);
  ShareWindow counts_;  // requests, and the retries among them
};

}  // namespace brink::router
