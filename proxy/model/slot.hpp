// One sequence of the model's memory and the request that uses it now. It remembers which tokens the memory holds, also
// after the request, so that the next one with the same beginning need not evaluate it again. The evaluating thread's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "proxy/model/job.hpp"
#include "proxy/model/text_gate.hpp"

namespace brink::model {

struct Slot {
  explicit Slot(int number) : sequence(number) {}

  int sequence;
  std::vector<Token> held;      // what the memory holds
  std::shared_ptr<Job> job;     // nullptr: free
  std::uint64_t order = 0;      // of the last job, counted up: arrival, and how long a free slot was not used
  std::vector<Token> upcoming;  // to be evaluated: the rest of the prompt, or the last token of the answer
  TextGate gate{{}};
  Usage usage;
  std::size_t output = 0;  // where in the batch this slot's output is asked for
  bool has_output = false;

  bool generating() const { return job && usage.completion_tokens > 0; }

  std::size_t common_prefix(const std::vector<Token>& prompt) const {
    const auto [mine, other] = std::mismatch(held.begin(), held.end(), prompt.begin(), prompt.end());
    return static_cast<std::size_t>(mine - held.begin());
  }
};

}  // namespace brink::model
