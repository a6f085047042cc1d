#include "tests/sim/fleet/simulation.hpp"

#include <queue>

namespace brink::fleet {
namespace {

constexpr double refusal_ms = 1;  // how soon an engine that fails at once answers

enum class Kind : std::uint8_t { arrival, step_end, change, scrape, give_up, refused };

struct Event {
  Time at;
  std::uint64_t order;
  Kind kind;
  std::uint32_t index;    // request, engine, change or edge
  std::uint32_t attempt;  // of give_up and refused; generation of step_end
  bool operator<(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
};

struct Progress {
  std::uint32_t edge = 0;
  std::uint32_t engine = 0;
  std::uint32_t attempt = 0;
  bool answered = false;
  bool open = false;  // at an engine
  std::vector<std::uint32_t> tried;
};

class Simulation {
 public:
  Simulation(const Fleet& fleet, const std::vector<Request>& requests, const PolicyMaker& make)
      : fleet_(fleet),
        requests_(requests),
        engines_(fleet.weights.size(), Engine(fleet.shape)),
        steps_(engines_.size()),
        stepping_(engines_.size()),
        random_(fleet.seed),
        progress_(requests.size()) {
    FleetShape shape{fleet.weights, fleet.edges, fleet.shape.batch_cap, fleet.shape.cache_blocks};
    for (std::uint32_t edge = 0; edge < fleet.edges; ++edge) edges_.push_back(make(shape, fleet.seed * 1000 + edge));
    result_.requests.resize(requests.size());
    for (Progress& one : progress_) one.edge = static_cast<std::uint32_t>(random_() % fleet.edges);
  }

  Result operator()() {
    open_ = requests_.size();
    for (std::uint32_t i = 0; i < fleet_.changes.size(); ++i) push(fleet_.changes[i].at, Kind::change, i);
    if (!requests_.empty()) push(requests_[0].arrival, Kind::arrival, 0);
    if (fleet_.scrape_every_ms > 0)
      for (std::uint32_t edge = 0; edge < fleet_.edges; ++edge)
        push(fleet_.scrape_every_ms * edge / fleet_.edges, Kind::scrape, edge);
    while (!events_.empty() && open_ > 0) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      handle(event);
    }
    double hits = 0, seen = 0;
    for (const Engine& engine : engines_) {
      result_.busy_ms.push_back(engine.busy_ms());
      hits += engine.hit_blocks();
      seen += engine.seen_blocks();
    }
    result_.hit_share = seen > 0 ? hits / seen : 0;
    return std::move(result_);
  }

 private:
  void push(Time at, Kind kind, std::uint32_t index, std::uint32_t attempt = 0) {
    events_.push({at, order_++, kind, index, attempt});
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Kind::arrival:
        if (event.index + 1 < requests_.size())
          push(requests_[event.index + 1].arrival, Kind::arrival, event.index + 1);
        return attempt(event.index);
      case Kind::step_end:
        return step_end(event.index, event.attempt);
      case Kind::change:
        return change(fleet_.changes[event.index]);
      case Kind::scrape:
        scrape(event.index);
        return push(now_ + fleet_.scrape_every_ms, Kind::scrape, event.index);
      case Kind::give_up:
      case Kind::refused:
        return fail(event.index, event.attempt);
    }
  }

  void attempt(std::uint32_t id) {
    Progress& one = progress_[id];
    std::vector<std::uint32_t> excluded = one.tried;
    for (std::uint32_t i = 0; i < engines_.size(); ++i)
      if (engines_[i].away) excluded.push_back(i);
    const int picked = edges_[one.edge]->pick(requests_[id], now_, excluded);
    if (picked == Policy::none) return lose(id);
    one.engine = static_cast<std::uint32_t>(picked);
    one.open = true;
    one.tried.push_back(one.engine);
    ++one.attempt;
    edges_[one.edge]->sent(requests_[id], one.engine, now_);
    Engine& engine = engines_[one.engine];
    if (engine.failing > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < engine.failing)
      return push(now_ + refusal_ms, Kind::refused, id, one.attempt);
    push(now_ + fleet_.patience_ms, Kind::give_up, id, one.attempt);
    engine.enqueue(requests_[id]);
    if (!stepping_[one.engine]) begin_step(one.engine);
  }

  void fail(std::uint32_t id, std::uint32_t attempt_number) {
    Progress& one = progress_[id];
    if (!one.open || one.answered || one.attempt != attempt_number) return;
    one.open = false;
    engines_[one.engine].remove(id);
    edges_[one.edge]->failed(requests_[id], one.engine, now_);
    if (one.attempt < fleet_.attempts) return attempt(id);
    lose(id);
  }

  void lose(std::uint32_t id) {
    const double waited = now_ - requests_[id].arrival;
    result_.requests[id] = {requests_[id].arrival, waited, waited, progress_[id].engine, true};
    --open_;
  }

  void begin_step(std::uint32_t index) {
    const double took = engines_[index].begin_step();
    stepping_[index] = took > 0;
    if (took > 0) push(now_ + took, Kind::step_end, index, ++steps_[index]);
  }

  void step_end(std::uint32_t index, std::uint32_t step) {
    if (step != steps_[index]) return;
    Engine& engine = engines_[index];
    stepping_[index] = false;
    if (engine.hung) return;
    std::erase_if(engine.running(), [&](Engine::Running& running) { return give_tokens(index, running); });
    begin_step(index);
  }

  bool give_tokens(std::uint32_t index, Engine::Running& running) {
    const Request& request = requests_[running.id];
    Progress& one = progress_[running.id];
    Policy& edge = *edges_[one.edge];
    Done& done = result_.requests[running.id];
    if (running.first) {
      running.first = false;
      one.answered = true;
      done = {request.arrival, now_ - request.arrival, 0, index, false};
      edge.first_token(request, index, now_);
    } else {
      edge.token(request, index, now_);
    }
    if (--running.steps_left > 0) return false;
    done.end_ms = now_ - request.arrival;
    one.open = false;
    --open_;
    edge.finished(request, index, now_);
    return true;
  }

  void change(const Change& change) {
    Engine& engine = engines_[change.engine];
    switch (change.what) {
      case Change::What::slowness:
        engine.slowness = change.value;
        return;
      case Change::What::failing:
        engine.failing = change.value;
        return;
      case Change::What::away:
        engine.away = change.value > 0;
        return;
      case Change::What::hung:
        engine.hung = change.value > 0;
        if (!engine.hung && !stepping_[change.engine]) begin_step(change.engine);
        return;
    }
  }

  void scrape(std::uint32_t edge) {
    for (std::uint32_t i = 0; i < engines_.size(); ++i) {
      if (engines_[i].hung || engines_[i].away) continue;
      const auto running = static_cast<std::uint32_t>(engines_[i].running().size());
      edges_[edge]->scraped(i, {now_, running, engines_[i].waiting(), double(running) / fleet_.shape.batch_cap}, now_);
    }
  }

  const Fleet& fleet_;
  const std::vector<Request>& requests_;
  std::vector<Engine> engines_;
  std::vector<std::uint32_t> steps_;  // number of the step under way; an older one's end means nothing
  std::vector<bool> stepping_;
  std::vector<std::unique_ptr<Policy>> edges_;
  std::mt19937_64 random_;
  std::vector<Progress> progress_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  std::size_t open_ = 0;
  Time now_ = 0;
  Result result_;
};

}  // namespace

Result simulate(const Fleet& fleet, const std::vector<Request>& requests, const PolicyMaker& make) {
  return Simulation(fleet, requests, make)();
}

}  // namespace brink::fleet
