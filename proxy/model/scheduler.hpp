// Shares one model among many requests: up to shape().sequences answers grow together, one token each a step, and what
// is left of the step's batch goes to prompts, oldest first. A request waits in a bounded queue until a sequence is
// free, and gets the one whose memory has most of its prompt already.
//
// run() is the evaluating thread; everything else may be called from any other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "proxy/model/engine.hpp"
#include "proxy/model/job.hpp"
#include "proxy/model/slot.hpp"

namespace brink::model {

class Scheduler {
 public:
  // Counted since the start, but for the first three.
  struct Stats {
    std::size_t active = 0;
    std::size_t waiting = 0;
    std::size_t held_tokens = 0;  // in the model's memory
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t failed = 0;
    std::uint64_t prompt_tokens = 0;  // evaluated
    std::uint64_t cached_tokens = 0;  // reused instead
    std::uint64_t completion_tokens = 0;
    std::uint64_t steps = 0;
    std::uint64_t step_inputs = 0;  // tokens of all steps: by `steps`, how many were decoded together
    double busy_seconds = 0;
  };

  Scheduler(Engine& engine, std::size_t queue);

  // False: the queue is full. REQUIRES: a prompt of 1 to shape().context - 1 tokens, all of them known.
  bool submit(std::shared_ptr<Job> job);
  void cancel(Job& job);
  Stats stats() const;

  void run();   // until stop()
  void stop();  // what is unfinished is dropped without a delivery

 private:
  bool admit();
  void drop_cancelled();
  void assign(std::shared_ptr<Job> job);
  void step();
  std::vector<Engine::Input> make_batch();
  void add_inputs(Slot& slot, std::size_t count, std::vector<Engine::Input>& batch);
  void advance(Slot& slot);
  void take(Slot& slot, Token token);
  void finish(Slot& slot, Delivery delivery);
  void fail(Slot& slot, const std::string& why);
  void release(Slot& slot);
  void embed();
  void end_embedding(Delivery delivery);
  void publish();

  Engine& engine_;
  const Engine::Shape shape_;
  const std::size_t queue_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::size_t active_ = 0;  // jobs in slots, and the embedding job
  bool stopping_ = false;
  Stats published_;

  // The evaluating thread's own.
  std::vector<Slot> slots_;
  std::shared_ptr<Job> embedding_;  // one at a time, one input a turn, between the steps
  std::vector<std::vector<float>> embedded_;
  std::uint64_t order_ = 0;
  Stats own_;
};

}  // namespace brink::model
