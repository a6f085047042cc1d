// Runs the engine's model on the real clock and hands its events to those who wait for them. One thread; must outlive
// the io_context's last handler.
#pragma once

#include <memory>
#include <unordered_map>

#include "tests/sim/engine.hpp"
#include "tests/sim/metrics.hpp"
#include "tests/sim/net.hpp"

namespace brink::sim {

// Who submitted a request. Called from the driver's timer, never from within submit().
class EngineSink {
 public:
  virtual ~EngineSink() = default;
  virtual void on_event(const Event& event) = 0;
};

class EngineDriver {
 public:
  // `speed` engine milliseconds pass in one real millisecond (> 0).
  EngineDriver(asio::io_context& context, const EngineConfig& config, double speed, Counters& counters);

  // The sink is kept alive while it is being called, not longer.
  RequestId submit(std::weak_ptr<EngineSink> sink, Prompt prompt, std::uint32_t output_tokens);
  // No further event comes. Unknown and finished ids are fine.
  void cancel(RequestId id);

  // The lasting slowness, and a cold start on top: `factor` times slower now, decaying in a straight line to nothing
  // within `duration` of real time.
  void set_slowness(double slowness);
  void cold_start(double factor, Clock::duration duration);
  double slowness() const;  // right now

  Engine& engine() { return engine_; }

 private:
  struct Waiter {
    std::weak_ptr<EngineSink> sink;
    Millis submitted;
    Millis last_token;
  };

  Millis now() const;
  void run();
  void schedule();
  void observe(const Event& event, Waiter& waiter);

  Engine engine_;
  Counters& counters_;
  double speed_;
  Clock::time_point start_;
  Timer timer_;
  Millis armed_for_ = Engine::never;
  RequestId last_id_ = 0;
  std::unordered_map<RequestId, Waiter> waiters_;
  double slowness_;
  double cold_factor_ = 1;
  Clock::time_point cold_since_{};
  Clock::duration cold_for_{};
};

}  // namespace brink::sim
