// Passive health: which endpoints of a cluster are left out for a while, by what their answers were. Failures in a row,
// the share of failures in a window, and first bytes far slower than those of the cluster's median endpoint. An answer
// of the 4xx class is no failure, and 429 and 503 are neither good nor bad: a busy endpoint is not a broken one.
//
// Keeps nothing itself: what is known is in EndpointState. Any thread. Rules: docs/failures.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conf/config.hpp"
#include "router/endpoint_state.hpp"

namespace brink::router {

class Outliers {
 public:
  enum class Reason : std::uint8_t { consecutive, share, slow, trial_failed, trial_passed };
  struct Change {
    Reason reason = Reason::trial_passed;
    Clock::duration out_for{};  // 0: it is in service again
  };
  // REQUIRES: both outlive this; endpoints in the cluster's order.
  Outliers(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints)
      : config_(cluster.outlier), endpoints_(endpoints.begin(), endpoints.end()) {}

  // The head of an answer to a request is there; `good`: its status is below 500 and not 429. Ends a trial well.
  std::optional<Change> first_byte(std::size_t index, Time now, bool good) const;
  // Once for each attempt. What changed, for the log.
  std::optional<Change> finished(std::size_t index, Time now, Outcome outcome) const;

 private:
  std::optional<Change> restore(EndpointState& state, Time now) const;
  std::optional<Change> eject(EndpointState& state, Time now, Reason reason) const;
  bool may_eject(const EndpointState& state) const;
  bool is_slow(const EndpointState& state, Time now) const;

  const conf::OutlierConfig& config_;
  std::vector<EndpointState*> endpoints_;
};

// "answers again", "failed 5 times in a row; left out for 10 s": the end of a sentence about an endpoint.
std::string to_string(const Outliers::Change& change);

}  // namespace brink::router
