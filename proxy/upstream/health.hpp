// Active health checks: asks each endpoint of a cluster that has `health_check` at its interval, and keeps the verdict
// in EndpointState::healthy, which every worker's picker reads. Runs on the control thread's loop. An endpoint starts
// usable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/loop.hpp"
#include "proxy/observe/shard.hpp"
#include "proxy/upstream/cluster.hpp"

namespace brink::upstream {

class HealthChecker {
 public:
  // `report` is told of each change: a line for the log.
  using Report = std::function<void(std::string_view line, bool healthy)>;
  HealthChecker(net::Loop& loop, observe::Shard& shard, Report report);
  ~HealthChecker();

  // Checks the endpoints of this snapshot from now on; checks of endpoints that stay go on with what they know.
  void use(std::shared_ptr<const Snapshot> snapshot);
  void stop();

 private:
  class Probe;
  net::Loop& loop_;
  observe::Shard& shard_;
  Report report_;
  std::vector<boost::intrusive_ptr<Probe>> probes_;
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace brink::upstream
