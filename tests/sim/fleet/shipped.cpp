// The pickers that Brink ships, with what surrounds them in the proxy: flights that count and teach, and the outlier
// rules with their defaults.
#include <optional>

#include "router/outliers.hpp"
#include "router/picker.hpp"
#include "tests/sim/fleet/policy.hpp"

namespace brink::fleet {
namespace {

std::uint64_t next_random(void* state) { return (*static_cast<std::mt19937_64*>(state))(); }

router::Time steady(Time ms) {
  constexpr double start_ms = 3'600'000;  // the steady clock's zero means "never" to the router
  return router::Time{} + std::chrono::nanoseconds(static_cast<std::int64_t>((start_ms + ms) * 1e6));
}

std::optional<conf::Balance> balance(std::string_view name) {
  if (name == "score") return conf::Balance::score;
  if (name == "least_requests") return conf::Balance::least_requests;
  if (name == "weighted_round_robin") return conf::Balance::weighted_round_robin;
  return std::nullopt;
}

class Shipped final : public Policy {
 public:
  Shipped(conf::Balance balance, const FleetShape& shape, std::uint64_t seed) : random_(seed) {
    cluster_.name = "fleet";
    cluster_.balance = balance;
    for (std::size_t i = 0; i < shape.weights.size(); ++i) {
      conf::EndpointConfig endpoint;
      endpoint.label = "engine-" + std::to_string(i);
      endpoint.weight = static_cast<unsigned>(shape.weights[i]);
      cluster_.endpoints.push_back(endpoint);
      states_.push_back(std::make_unique<router::EndpointState>(endpoint.label));
      endpoints_.push_back(states_.back().get());
    }
    outliers_.emplace(cluster_, endpoints_);
    picker_ = router::make_picker(cluster_, endpoints_, next_random, &random_);
  }

  int pick(const Request& request, Time now, std::span<const std::uint32_t> excluded) override {
    return picker_->pick({steady(now), bytes(request), excluded});
  }
  void sent(const Request& request, std::uint32_t engine, Time now) override {
    if (request.id >= flights_.size()) flights_.resize(request.id + 1);
    flights_[request.id] = router::Flight(*endpoints_[engine], steady(now), bytes(request));
  }
  void first_token(const Request& request, std::uint32_t engine, Time now) override {
    flights_[request.id].first_byte(steady(now), true);
    outliers_->first_byte(engine, steady(now), true);
  }
  void finished(const Request& request, std::uint32_t engine, Time now) override {
    end(request, engine, now, router::Outcome::success);
  }
  void failed(const Request& request, std::uint32_t engine, Time now) override {
    end(request, engine, now, router::Outcome::failure);
  }

 private:
  static std::uint64_t bytes(const Request& request) {
    return static_cast<std::uint64_t>(request.prompt_tokens * FleetShape::bytes_per_token);
  }
  void end(const Request& request, std::uint32_t engine, Time now, router::Outcome outcome) {
    flights_[request.id].finish(steady(now), outcome);
    outliers_->finished(engine, steady(now), outcome);
  }

  std::mt19937_64 random_;
  conf::ClusterConfig cluster_;
  std::vector<std::unique_ptr<router::EndpointState>> states_;
  std::vector<router::EndpointState*> endpoints_;
  std::optional<router::Outliers> outliers_;
  std::unique_ptr<router::Picker> picker_;
  std::vector<router::Flight> flights_;  // by request
};

}  // namespace

std::vector<std::string> shipped_names() { return {"weighted_round_robin", "least_requests", "score"}; }

std::unique_ptr<Policy> make_policy(std::string_view name, const FleetShape& shape, std::uint64_t seed) {
  if (const auto known = balance(name)) return std::make_unique<Shipped>(*known, shape, seed);
  return make_rival(name, shape, seed);
}

}  // namespace brink::fleet
