// One request from its decision to the end of its answer: carries out the faults, submits to the engine, turns the
// engine's events into bytes. Does not touch the socket. One thread.
//
// It ends in one of two ways: it calls one of the ending functions of its Connection, last of all, or it is destroyed
// because the client left, which cancels the request in the engine at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/sim/driver.hpp"
#include "tests/sim/routes.hpp"
#include "tests/sim/wire.hpp"

namespace brink::sim {

// What an exchange may do to its connection.
class Connection {
 public:
  virtual void write(std::string_view bytes) = 0;  // in order, without waiting
  virtual void answered() = 0;                     // ends: the answer is complete
  virtual void cut() = 0;                          // ends: close after what was written
  virtual void reset() = 0;                        // ends: TCP reset

 protected:
  ~Connection() = default;
};

class Exchange final : public EngineSink, public std::enable_shared_from_this<Exchange> {
 public:
  // The context and the connection outlive it.
  Exchange(Context& context, Connection& connection, Work work, AnswerShape shape);
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start();
  void on_event(const Event& event) override;

 private:
  enum class Outcome { open, finished, rejected, faulted };
  enum class Ending { answered, cut, reset };

  void respond();
  void send_reply(const Reply& reply, Outcome outcome);
  void send_head();
  void send_body(std::string body);
  void send_tokens(const Event& event);
  void finish_stream(const Event& event);
  bool break_stream();
  void reject(Rejection reason);

  std::string frame(std::string_view data) const;
  void emit(std::string_view bytes);
  void end(Ending ending, Outcome outcome);
  void hold(std::optional<Delay> duration);
  void after(Clock::time_point time, void (Exchange::*next)());
  void let_go();

  Context& context_;
  Connection& connection_;
  Work work_;
  AnswerShape shape_;
  Timer timer_;
  const Generation* generation_ = nullptr;  // in work_
  std::optional<Renderer> renderer_;
  std::optional<RequestId> id_;  // while the engine knows it
  std::uint32_t sent_ = 0;       // tokens
  bool head_sent_ = false;
  bool stalled_ = false;  // the stall has been carried out
  bool holding_ = false;  // nothing goes out for now
  std::string held_;      // what would have
  Clock::time_point hold_until_;
  std::optional<std::pair<Ending, Outcome>> held_end_;  // what comes after it
  Outcome outcome_ = Outcome::open;
};

}  // namespace brink::sim
