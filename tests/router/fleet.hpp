// A fleet of inference engines in simulated time, in front of which real pickers choose: continuous batching with a
// cap, prefill that delays the running batch, decode steps that grow with it, and faults. Events in order of time, one
// thread, seeded: the same scenario gives the same numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "router/picker.hpp"

namespace brink::router::test {

inline Time at_ms(double ms) { return Time{} + std::chrono::nanoseconds(static_cast<std::int64_t>((1000 + ms) * 1e6)); }

inline std::uint64_t next_random(void* state) { return (*static_cast<std::mt19937_64*>(state))(); }

struct EngineShape {
  std::size_t batch = 8;  // requests decoded together
  double step_ms = 6;     // a decode step of an empty batch
  double step_ms_per_request = 0.25;
  double prompt_tokens_per_ms = 80;
  double tokens_per_step = 8;
};

struct Work {
  double prompt_tokens = 1000;
  double output_tokens = 200;
};

struct Scenario {
  std::string balance = "score";  // or the other names of the configuration
  std::vector<unsigned> weights{1, 1, 1, 1};
  EngineShape shape;
  double requests_per_second = 60;
  double seconds = 60;
  bool streams = true;    // else the first byte comes with the last
  std::size_t edges = 1;  // proxies that know nothing of each other
  unsigned per_endpoint_requests = 0;
  double client_patience_ms = 1e9;  // cancels after so long without a first byte
  std::uint64_t seed = 1;
  std::function<Work(std::mt19937_64&)> draw;  // default: log-normal prompts and outputs
};

struct Done {
  double sent_ms = 0;
  double first_byte_ms = -1;  // -1: never
  int endpoint = Picker::none;
  Outcome outcome = Outcome::cancelled;
};

class Fleet {
 public:
  struct Engine {
    double slowness = 1;
    bool hung = false;   // accepts and never answers
    bool fails = false;  // answers 500 in a millisecond
    std::deque<std::size_t> queue;
    std::vector<std::size_t> batch;
    bool busy = false;
  };

  explicit Fleet(Scenario scenario);
  Engine& engine(std::size_t index) { return engines_[index]; }
  EndpointState& state(std::size_t index, std::size_t edge = 0) { return *edges_[edge].states[index]; }
  void at(double ms, std::function<void()> change) { push(ms, std::move(change)); }
  void run();

  const std::vector<Done>& done() const { return done_; }
  // Of the requests sent from..to ms: the share that went to an endpoint.
  double share(int endpoint, double from_ms = 0, double to_ms = 1e18) const;
  double percentile(double q, double from_ms = 2000, double to_ms = 1e18) const;  // of time to first byte, ms
  std::uint32_t most_in_flight() const { return most_in_flight_; }                // at one endpoint, seen by one edge
  int longest_run() const;  // of successive requests at one endpoint

 private:
  struct Event {
    double ms;
    std::uint64_t order;
    std::function<void()> act;
    bool operator<(const Event& other) const { return ms != other.ms ? ms > other.ms : order > other.order; }
  };
  struct Edge {
    std::vector<std::unique_ptr<EndpointState>> states;
    std::unique_ptr<Picker> picker;
  };
  void push(double ms, std::function<void()> act) { events_.push({ms, order_++, std::move(act)}); }
  void arrive(std::size_t id);
  void step(std::size_t engine);
  void step_end(std::size_t engine);
  void first_byte(std::size_t id);
  void finish(std::size_t id, Outcome outcome);
  void plan_arrivals();

  Scenario scenario_;
  std::mt19937_64 random_;
  conf::ClusterConfig cluster_;
  std::vector<Engine> engines_;
  std::vector<Edge> edges_;
  std::vector<Work> work_;
  std::vector<int> steps_left_;
  std::vector<Flight> flights_;
  std::vector<Done> done_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  std::uint32_t most_in_flight_ = 0;
};

inline Work lognormal_work(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return {std::min(8000.0, std::exp(6.5 + 0.9 * normal(random))),
          std::min(1500.0, std::exp(5.0 + 0.7 * normal(random)))};
}

inline Fleet::Fleet(Scenario scenario) : scenario_(std::move(scenario)), random_(scenario_.seed) {
  if (!scenario_.draw) scenario_.draw = lognormal_work;
  cluster_.balance = scenario_.balance == "score"            ? conf::Balance::score
                     : scenario_.balance == "least_requests" ? conf::Balance::least_requests
                                                             : conf::Balance::weighted_round_robin;
  cluster_.limits.per_endpoint_requests = scenario_.per_endpoint_requests;
  for (const unsigned weight : scenario_.weights) cluster_.endpoints.emplace_back().weight = weight;
  engines_.resize(scenario_.weights.size());
  for (std::size_t e = 0; e < scenario_.edges; ++e) {
    Edge& edge = edges_.emplace_back();
    std::vector<EndpointState*> states;
    for (std::size_t i = 0; i < engines_.size(); ++i)
      states.push_back(edge.states.emplace_back(std::make_unique<EndpointState>("e" + std::to_string(i))).get());
    edge.picker = make_picker(cluster_, states, next_random, &random_);
  }
  plan_arrivals();
}

inline void Fleet::plan_arrivals() {
  std::exponential_distribution<double> gap(scenario_.requests_per_second / 1000);
  for (double ms = gap(random_); ms < scenario_.seconds * 1000; ms += gap(random_)) {
    const std::size_t id = work_.size();
    work_.push_back(scenario_.draw(random_));
    steps_left_.push_back(
        std::max(1, static_cast<int>(std::ceil(work_[id].output_tokens / scenario_.shape.tokens_per_step))));
    push(ms, [this, id] { arrive(id); });
  }
  flights_.resize(work_.size());
  done_.resize(work_.size());
}

inline void Fleet::run() {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.ms;
    event.act();
  }
}

inline void Fleet::arrive(std::size_t id) {
  Edge& edge = edges_[edges_.size() == 1 ? 0 : random_() % edges_.size()];
  const auto bytes = static_cast<std::uint64_t>(work_[id].prompt_tokens * 4);
  const int index = edge.picker->pick({at_ms(now_), bytes, {}});
  done_[id].sent_ms = now_;
  done_[id].endpoint = index;
  if (index == Picker::none) return;
  const auto target = static_cast<std::size_t>(index);
  flights_[id] = Flight(*edge.states[target], at_ms(now_), bytes);
  most_in_flight_ = std::max(most_in_flight_, edge.states[target]->in_flight.load());
  if (scenario_.client_patience_ms < 1e9)
    push(now_ + scenario_.client_patience_ms, [this, id] {
      if (done_[id].first_byte_ms < 0) finish(id, Outcome::cancelled);
    });
  Engine& engine = engines_[target];
  if (engine.fails)
    return push(now_ + 1, [this, id] {
      flights_[id].first_byte(at_ms(now_));
      finish(id, Outcome::failure);
    });
  engine.queue.push_back(id);
  if (!engine.busy) step(target);
}

inline void Fleet::step(std::size_t index) {
  Engine& engine = engines_[index];
  engine.busy = false;
  if (engine.hung) return;
  double prompt = 0;
  while (engine.batch.size() < scenario_.shape.batch * scenario_.weights[index] && !engine.queue.empty()) {
    prompt += work_[engine.queue.front()].prompt_tokens / scenario_.weights[index];
    engine.batch.push_back(engine.queue.front());
    engine.queue.pop_front();
  }
  if (engine.batch.empty()) return;
  const EngineShape& shape = scenario_.shape;
  const double running = static_cast<double>(engine.batch.size()) / scenario_.weights[index];
  engine.busy = true;
  push(now_ + engine.slowness *
                  (prompt / shape.prompt_tokens_per_ms + shape.step_ms + shape.step_ms_per_request * running),
       [this, index] { step_end(index); });
}

inline void Fleet::step_end(std::size_t index) {
  std::vector<std::size_t> rest;
  for (const std::size_t id : engines_[index].batch) {
    if (scenario_.streams) first_byte(id);
    if (--steps_left_[id] > 0) {
      rest.push_back(id);
      continue;
    }
    first_byte(id);
    finish(id, Outcome::success);
  }
  engines_[index].batch = std::move(rest);
  step(index);
}

inline void Fleet::first_byte(std::size_t id) {
  if (done_[id].first_byte_ms >= 0) return;
  done_[id].first_byte_ms = now_;
  flights_[id].first_byte(at_ms(now_), true);
}

inline void Fleet::finish(std::size_t id, Outcome outcome) {
  done_[id].outcome = outcome;
  flights_[id].finish(at_ms(now_), outcome);
}

inline double Fleet::share(int endpoint, double from_ms, double to_ms) const {
  double all = 0;
  double there = 0;
  for (const Done& done : done_) {
    if (done.sent_ms < from_ms || done.sent_ms >= to_ms) continue;
    ++all;
    if (done.endpoint == endpoint) ++there;
  }
  return all > 0 ? there / all : 0;
}

inline double Fleet::percentile(double q, double from_ms, double to_ms) const {
  std::vector<double> times;
  for (const Done& done : done_)
    if (done.sent_ms >= from_ms && done.sent_ms < to_ms && done.first_byte_ms >= 0)
      times.push_back(done.first_byte_ms - done.sent_ms);
  if (times.empty()) return -1;
  std::sort(times.begin(), times.end());
  return times[std::min(times.size() - 1, static_cast<std::size_t>(q * static_cast<double>(times.size())))];
}

inline int Fleet::longest_run() const {
  int longest = 0;
  int run = 0;
  int last = Picker::none;
  for (const Done& done : done_) {
    run = done.endpoint == last ? run + 1 : 1;
    last = done.endpoint;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace brink::router::test
