// The policies of other proxies and gateways, by their published formulas. Each is one edge's, and counts its own
// requests; what engines publish it uses where the original does. All of them get nginx's passive check as a favour: an
// engine that failed is left alone for 10 s while another can be picked.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "tests/sim/fleet/engine.hpp"
#include "tests/sim/fleet/policy.hpp"

namespace brink::fleet {
namespace {

constexpr double never = -1e18;
constexpr double fail_timeout_ms = 10'000;
constexpr double block_tokens = 512;

struct View {
  double in_flight = 0;
  double first_byte = 0;  // moving average, gain 0.1; 0: none yet
  double samples = 0;
  std::map<std::uint32_t, double> waiting;  // request: uncached prompt tokens, as far as the edge knows
  double blocks = 0;                        // prompt blocks of requests in flight
  Time failed_at = never;
  Scrape scraped;
};

// Counts what every rival needs; a rival says what an engine costs, the least is taken, ties from a rotating start.
class Rival : public Policy {
 public:
  Rival(const FleetShape& shape, std::uint64_t seed) : shape_(shape), random_(seed), views_(shape.weights.size()) {
    for (std::size_t i = 0; i < views_.size(); ++i) caches_.emplace_back(shape.cache_blocks);
  }

  int pick(const Request& request, Time now, std::span<const std::uint32_t> excluded) final {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i = 0; i < views_.size(); ++i)
      if (std::find(excluded.begin(), excluded.end(), i) == excluded.end()) members.push_back(i);
    std::vector<std::uint32_t> fine = members;
    std::erase_if(fine, [&](std::uint32_t i) { return now - views_[i].failed_at < fail_timeout_ms; });
    if (!fine.empty()) members = std::move(fine);
    if (members.empty()) return none;
    return static_cast<int>(choose(members, request, now));
  }
  void sent(const Request& request, std::uint32_t engine, Time) override {
    View& view = views_[engine];
    view.waiting[request.id] = uncached(engine, request);
    ++view.in_flight;
    view.blocks += static_cast<double>(request.blocks.size());
    caches_[engine].touch(request.blocks);
  }
  void first_token(const Request& request, std::uint32_t engine, Time now) override {
    View& view = views_[engine];
    view.waiting.erase(request.id);
    const double took = now - request.arrival;
    view.first_byte = view.samples++ > 0 ? 0.9 * view.first_byte + 0.1 * took : took;
  }
  void finished(const Request& request, std::uint32_t engine, Time) override { leave(request, engine); }
  void failed(const Request& request, std::uint32_t engine, Time now) override {
    leave(request, engine);
    views_[engine].failed_at = now;
  }
  void scraped(std::uint32_t engine, const Scrape& scrape, Time) override { views_[engine].scraped = scrape; }

 protected:
  using Members = std::vector<std::uint32_t>;  // never empty
  virtual std::uint32_t choose(const Members& members, const Request& request, Time now) {
    return least(members, [&](std::uint32_t i) { return cost(i, request, now); });
  }
  virtual double cost(std::uint32_t /*engine*/, const Request&, Time) const { return 0; }

  template <class Cost>
  std::uint32_t least(const Members& members, Cost&& cost_of) {
    const std::size_t start = turn_++ % members.size();
    std::uint32_t best = members[start];
    double best_cost = cost_of(best);
    for (std::size_t step = 1; step < members.size(); ++step) {
      const std::uint32_t i = members[(start + step) % members.size()];
      if (const double value = cost_of(i); value < best_cost) best = i, best_cost = value;
    }
    return best;
  }
  Members two_of(const Members& members) {
    if (members.size() < 2) return members;
    const std::size_t first = random_() % members.size();
    const std::size_t second = (first + 1 + random_() % (members.size() - 1)) % members.size();
    return {members[first], members[second]};
  }
  // Smooth weighted round robin with weights that may change between turns.
  template <class Weight>
  std::uint32_t turn(const Members& members, Weight&& weight_of) {
    current_.resize(views_.size());
    double total = 0;
    std::uint32_t best = members.front();
    for (const std::uint32_t i : members) {
      const double weight = weight_of(i);
      current_[i] += weight;
      total += weight;
      if (current_[i] > current_[best]) best = i;
    }
    current_[best] -= total;
    return best;
  }
  double weight(std::uint32_t i) const { return shape_.weights[i]; }
  double matching(std::uint32_t i, const Request& request) const { return caches_[i].matching(request.blocks); }
  double uncached(std::uint32_t i, const Request& request) const {
    return std::max(1.0, request.prompt_tokens - block_tokens * matching(i, request));
  }
  // Of waiting requests: as published, or by own counts before the first scrape.
  double queue(std::uint32_t i) const {
    return views_[i].scraped.at >= 0 ? views_[i].scraped.waiting : static_cast<double>(views_[i].waiting.size());
  }

  const FleetShape shape_;
  std::mt19937_64 random_;
  std::vector<View> views_;
  std::vector<BlockCache> caches_;  // what was sent where

 private:
  void leave(const Request& request, std::uint32_t engine) {
    View& view = views_[engine];
    view.waiting.erase(request.id);
    --view.in_flight;
    view.blocks -= static_cast<double>(request.blocks.size());
  }
  std::size_t turn_ = 0;
  std::vector<double> current_;
};

// ngx_http_upstream_round_robin.c
class NginxWrr final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request&, Time) override {
    return turn(members, [&](std::uint32_t i) { return weight(i); });
  }
};

// nginx.org, ngx_http_upstream_module: least_time first_byte inflight; the least average time, with what is in flight
// taken into account, by weight.
class NginxLeastTime final : public Rival {
  using Rival::Rival;
  double cost(std::uint32_t i, const Request&, Time) const override {
    return std::max(views_[i].first_byte, 1.0) * (views_[i].in_flight + 1) / weight(i);
  }
};

// haproxy.cfg, balance leastconn: connections by weight.
class HaproxyLeastconn final : public Rival {
  using Rival::Rival;
  double cost(std::uint32_t i, const Request&, Time) const override { return (views_[i].in_flight + 1) / weight(i); }
};

// haproxy.cfg, balance random(2): two drawn, the less loaded by weight.
class HaproxyRandom final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request&, Time) override {
    return least(two_of(members), [&](std::uint32_t i) { return (views_[i].in_flight + 1) / weight(i); });
  }
};

// Envoy, least request: two choices among equal weights; else round robin with weight / (active + 1) ^ bias, bias 1.
class EnvoyLeastRequest final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request&, Time) override {
    const bool equal = std::all_of(members.begin(), members.end(),
                                   [&](std::uint32_t i) { return weight(i) == weight(members.front()); });
    if (equal) return least(two_of(members), [&](std::uint32_t i) { return views_[i].in_flight; });
    return turn(members, [&](std::uint32_t i) { return weight(i) / (views_[i].in_flight + 1); });
  }
};

// Finagle, p2cPeakEwma: latency that jumps to peaks and decays in 10 s, times load, two choices.
class PeakEwma final : public Rival {
 public:
  PeakEwma(const FleetShape& shape, std::uint64_t seed) : Rival(shape, seed), peaks_(shape.weights.size()) {}
  void first_token(const Request& request, std::uint32_t engine, Time now) override {
    Rival::first_token(request, engine, now);
    Peak& peak = peaks_[engine];
    const double sample = now - request.arrival;
    const double keep = std::exp((peak.at - now) / decay_ms);
    peak = {sample > peak.value ? sample : peak.value * keep + sample * (1 - keep), now};
  }

 private:
  struct Peak {
    double value = 0;
    Time at = 0;
  };
  static constexpr double decay_ms = 10'000;
  std::uint32_t choose(const Members& members, const Request&, Time now) override {
    return least(two_of(members), [&](std::uint32_t i) {
      const double value = peaks_[i].value * std::exp((peaks_[i].at - now) / decay_ms);
      return (value + 1e-9) * (views_[i].in_flight + 1);
    });
  }
  std::vector<Peak> peaks_;
};

// C3 (NSDI 2015): response time - service time + (1 + outstanding x clients + queue)^3 x service time. Service time
// comes from the time between tokens, as answers of one size would tell it.
class C3 final : public Rival {
 public:
  C3(const FleetShape& shape, std::uint64_t seed)
      : Rival(shape, seed), service_(shape.weights.size(), 1), last_(shape.weights.size()) {}
  void token(const Request& request, std::uint32_t engine, Time now) override {
    auto& last = last_[engine];
    if (const auto before = last.find(request.id); before != last.end())
      service_[engine] += 0.01 * ((now - before->second) / shape_.batch_cap - service_[engine]);
    last[request.id] = now;
  }
  void finished(const Request& request, std::uint32_t engine, Time now) override {
    Rival::finished(request, engine, now);
    last_[engine].erase(request.id);
  }

 private:
  double cost(std::uint32_t i, const Request&, Time) const override {
    const double clients = shape_.edges;
    const double queue_size = 1 + views_[i].in_flight * clients;
    return views_[i].first_byte - service_[i] + std::pow(queue_size, 3) * service_[i] / clients;
  }
  std::vector<double> service_;
  std::vector<std::map<std::uint32_t, Time>> last_;
};

// Prequal (NSDI 2024): of three probed replicas, those with more requests in flight than the 84 % quantile are hot; the
// cold one of the least latency, or else the least loaded hot one.
class Prequal final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request&, Time) override {
    Members probed = members;
    std::shuffle(probed.begin(), probed.end(), random_);
    probed.resize(std::min<std::size_t>(probed.size(), 3));
    const auto load = [&](std::uint32_t i) {
      const Scrape& scrape = views_[i].scraped;
      return std::max(views_[i].in_flight, scrape.at < 0 ? 0.0 : scrape.running + scrape.waiting);
    };
    std::vector<double> loads;
    for (const std::uint32_t i : members) loads.push_back(load(i));
    std::sort(loads.begin(), loads.end());
    const double hot = loads[static_cast<std::size_t>(0.84 * static_cast<double>(loads.size() - 1))];
    Members cold = probed;
    std::erase_if(cold, [&](std::uint32_t i) { return load(i) > hot; });
    if (cold.empty()) return least(probed, load);
    return least(cold, [&](std::uint32_t i) { return views_[i].first_byte; });
  }
};

// Gateway API inference extension: queue, KV use and prefix scorers, weights 2 : 2 : 1.
class InferenceExtension final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request& request, Time) override {
    double least_queue = HUGE_VAL, most_queue = 0;
    for (const std::uint32_t i : members) {
      least_queue = std::min(least_queue, queue(i));
      most_queue = std::max(most_queue, queue(i));
    }
    return least(members, [&](std::uint32_t i) {
      const Scrape& scrape = views_[i].scraped;
      const double use = scrape.at >= 0 ? scrape.kv_use : views_[i].in_flight / shape_.batch_cap;
      const double by_queue = most_queue > least_queue ? (most_queue - queue(i)) / (most_queue - least_queue) : 1;
      const double prefix = matching(i, request) / std::max(1.0, static_cast<double>(request.blocks.size()));
      return -(2 * by_queue + 2 * (1 - std::min(1.0, use)) + prefix);
    });
  }
};

// SGLang router, cache_aware: shortest queue when unbalanced by 32 and 1.1 times; else the best prefix above one half;
// else the smallest tree.
class Sglang final : public Rival {
  using Rival::Rival;
  std::uint32_t choose(const Members& members, const Request& request, Time) override {
    const auto load = [&](std::uint32_t i) { return views_[i].in_flight; };
    double fewest = HUGE_VAL, most = 0;
    for (const std::uint32_t i : members) {
      fewest = std::min(fewest, load(i));
      most = std::max(most, load(i));
    }
    if (most - fewest > 32 && most > 1.1 * fewest) return least(members, load);
    const std::uint32_t best = least(members, [&](std::uint32_t i) { return -matching(i, request); });
    if (matching(best, request) > 0.5 * static_cast<double>(request.blocks.size())) return best;
    return least(members, [&](std::uint32_t i) { return static_cast<double>(caches_[i].size()); });
  }
};

// NVIDIA Dynamo, KV router: uncached prefill blocks + active blocks.
class Dynamo final : public Rival {
  using Rival::Rival;
  double cost(std::uint32_t i, const Request& request, Time) const override {
    double prefill = uncached(i, request);
    for (const auto& [id, tokens] : views_[i].waiting) prefill += tokens;
    return prefill / block_tokens + views_[i].blocks + static_cast<double>(request.blocks.size());
  }
};

// LiteLLM, latency-based-routing: the least mean of the last ten times to first token.
class Litellm final : public Rival {
 public:
  Litellm(const FleetShape& shape, std::uint64_t seed) : Rival(shape, seed), last_(shape.weights.size()) {}
  void first_token(const Request& request, std::uint32_t engine, Time now) override {
    Rival::first_token(request, engine, now);
    last_[engine].push_back(now - request.arrival);
    if (last_[engine].size() > 10) last_[engine].pop_front();
  }

 private:
  double cost(std::uint32_t i, const Request&, Time) const override {
    double sum = 0;
    for (const double value : last_[i]) sum += value;
    return last_[i].empty() ? 0 : sum / static_cast<double>(last_[i].size());
  }
  std::vector<std::deque<double>> last_;
};

using Make = std::unique_ptr<Policy> (*)(const FleetShape&, std::uint64_t);

template <class One>
std::unique_ptr<Policy> make(const FleetShape& shape, std::uint64_t seed) {
  return std::make_unique<One>(shape, seed);
}

constexpr std::pair<const char*, Make> rivals[] = {
    {"nginx-wrr", make<NginxWrr>},
    {"nginx-least-time", make<NginxLeastTime>},
    {"haproxy-leastconn", make<HaproxyLeastconn>},
    {"haproxy-random2", make<HaproxyRandom>},
    {"envoy-least-request", make<EnvoyLeastRequest>},
    {"finagle-peak-ewma", make<PeakEwma>},
    {"c3", make<C3>},
    {"prequal", make<Prequal>},
    {"gie-2-2-1", make<InferenceExtension>},
    {"sglang", make<Sglang>},
    {"dynamo", make<Dynamo>},
    {"litellm-latency", make<Litellm>},
};

}  // namespace

std::vector<std::string> rival_names() {
  std::vector<std::string> names;
  for (const auto& [name, make_one] : rivals) names.emplace_back(name);
  return names;
}

std::unique_ptr<Policy> make_rival(std::string_view name, const FleetShape& shape, std::uint64_t seed) {
  for (const auto& [known, make_one] : rivals)
    if (name == known) return make_one(shape, seed);
  return nullptr;
}

}  // namespace brink::fleet
