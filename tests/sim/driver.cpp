#include "tests/sim/driver.hpp"

#include <algorithm>

namespace brink::sim {

using RealMillis = std::chrono::duration<double, std::milli>;

EngineDriver::EngineDriver(asio::io_context& context, const EngineConfig& config, double speed, Counters& counters)
    : engine_(config),
      counters_(counters),
      speed_(speed),
      start_(Clock::now()),
      timer_(context),
      slowness_(config.slowness) {}

RequestId EngineDriver::submit(std::weak_ptr<EngineSink> sink, Prompt prompt, std::uint32_t output_tokens) {
  const RequestId id = ++last_id_;
  const Millis at = now();
  waiters_.emplace(id, Waiter{.sink = std::move(sink), .submitted = at, .last_token = at});
  engine_.set_slowness(slowness());
  engine_.submit(id, at, std::move(prompt), output_tokens);
  schedule();
  return id;
}

void EngineDriver::cancel(RequestId id) {
  if (waiters_.erase(id) > 0) engine_.cancel(id);
}

void EngineDriver::set_slowness(double slowness) { slowness_ = slowness; }

void EngineDriver::cold_start(double factor, Clock::duration duration) {
  cold_factor_ = factor;
  cold_since_ = Clock::now();
  cold_for_ = duration;
}

double EngineDriver::slowness() const {
  const auto passed = Clock::now() - cold_since_;
  if (passed >= cold_for_) return slowness_;
  const double left = 1 - std::chrono::duration<double>(passed) / cold_for_;
  return slowness_ * (1 + (cold_factor_ - 1) * left);
}

Millis EngineDriver::now() const { return RealMillis(Clock::now() - start_).count() * speed_; }

void EngineDriver::run() {
  armed_for_ = Engine::never;
  engine_.set_slowness(slowness());
  for (const Event& event : engine_.advance(now())) {
    const auto found = waiters_.find(event.id);
    if (found == waiters_.end()) continue;  // cancelled by one of the sinks before it
    observe(event, found->second);
    const auto sink = found->second.sink.lock();
    if (event.kind == EventKind::finished || event.kind == EventKind::rejected) waiters_.erase(found);
    if (sink) sink->on_event(event);
  }
  schedule();
}

void EngineDriver::schedule() {
  const Millis next = engine_.next_event_time();
  if (next == armed_for_ || next == Engine::never) return;
  armed_for_ = next;
  // Rounded up: a timer a fraction early would find nothing to do and be armed again.
  timer_.expires_at(start_ + std::chrono::ceil<Clock::duration>(RealMillis(next / speed_)));
  timer_.async_wait([this](error_code ec) {
    if (!ec) run();
  });
}

void EngineDriver::observe(const Event& event, Waiter& waiter) {
  const auto seconds = [this](Millis span) { return span / speed_ / 1000; };
  switch (event.kind) {
    case EventKind::first_token:
      counters_.queue_time.observe(seconds(event.waited));
      counters_.time_to_first_token.observe(seconds(event.at - waiter.submitted));
      break;
    case EventKind::token:
      counters_.time_per_output_token.observe(seconds(event.at - waiter.last_token));
      break;
    case EventKind::finished:
      counters_.request_time.observe(seconds(event.at - waiter.submitted));
      break;
    case EventKind::rejected:
      break;
  }
  waiter.last_token = event.at;
}

}  // namespace brink::sim
