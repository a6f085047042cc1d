// What all pickers have in common: which endpoints may be used for this request at all (health, ejection, panic,
// back-pressure, limits), and the QPS token. A balance
// algorithm derives from it and chooses among the usable ones. One worker's own, like any picker.
#pragma once

#include <span>
#include <vector>

#include "router/picker.hpp"

namespace brink::router {

class UsablePicker : public Picker {
 public:
  UsablePicker(const conf::ClusterConfig& cluster, std::span<EndpointState* const> endpoints);
  int pick(const PickInput& input) final;
  bool any(const PickInput& input, bool patient) final;

 protected:
  // The best of the endpoints with usable(i), or `none` if there is no such.
  virtual int choose(const PickInput& input) = 0;

  std::size_t size() const { return endpoints_.size(); }
  bool usable(std::size_t index) const { return usable_[index] != 0; }
  EndpointState& endpoint(std::size_t index) const { return *endpoints_[index]; }
  unsigned weight(std::size_t index) const { return cluster_.endpoints[index].weight; }
  // The part of its share that an endpoint may take which came back lately.
  double ramp(std::size_t index, Time now) const {
    return endpoint(index).ejection.ramp(now, cluster_.outlier.slow_start);
  }

 private:
  void find_usable(const PickInput& input);
  bool in_panic() const;
  bool admit_paused();  // makes those usable that asked to be left alone; false: there are none

  const conf::ClusterConfig& cluster_;
  std::vector<EndpointState*> endpoints_;
  std::vector<char> usable_;
  std::vector<std::uint32_t> paused_;  // by find_usable: would be usable, but asked to be left alone
};

// Takes turns by weight, nginx's smooth weighted round robin: of weights 5, 1, 1 it makes a a b a c a a, not a a a a a
// b c. Used to break ties; the picker of the same name adds what failures do.
class Turns {
 public:
  explicit Turns(const conf::ClusterConfig& cluster);
  // One round among the members, at least one.
  int next(std::span<const std::uint32_t> members);
  std::size_t size() const { return weight_.size(); }

 private:
  std::vector<long> weight_;
  std::vector<long> current_;
};

// Collects the endpoints with the least value; values that differ by rounding only are a tie.
class Least {
 public:
  explicit Least(const conf::ClusterConfig& cluster);
  void start() { tied_.clear(); }
  void offer(std::uint32_t index, double value);
  int take();                            // by turns among the tied; Picker::none if nothing was offered
  void skip_turns(std::uint64_t count);  // so that workers do not all begin with the first endpoint

 private:
  Turns turns_;
  std::vector<std::uint32_t> tied_;
  double best_ = 0;
};

}  // namespace brink::router
