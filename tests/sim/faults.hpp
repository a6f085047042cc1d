// Faults a test can ask of the simulator: for one request by the header `x-sim-fault`, or for many by rules with a
// probability and a count. Decisions only; the exchange carries them out. Single-threaded.
//
// One fault is `name`, `name=value` or `name=value;parameter=value`, several are separated by commas:
//   latency=500ms              the whole answer begins late
//   status=503                 an error answer (400 to 599); status=429;retry-after=2 adds the header
//   reset                      TCP reset before the head
//   hang                       no answer at all, until the client leaves
//   late-first-token=2s        the head at once, the first token late (a plain answer: all of it late)
//   cut=5                      the connection ends after 5 tokens (a plain answer: after half of its body)
//   stall=5, stall=5;for=2s    silence after 5 tokens, for good or for a while
//   malformed-chunk=5          a chunk size that is none after 5 tokens, then the end
//   no-done                    an event stream without its `data: [DONE]`
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace brink::sim {

using Delay = std::chrono::milliseconds;

struct FaultSet {
  std::optional<Delay> latency;
  std::optional<unsigned> status;
  std::optional<unsigned> retry_after;  // seconds
  bool reset = false;
  bool hang = false;
  std::optional<Delay> late_first_token;
  std::optional<std::uint32_t> cut_after;
  std::optional<std::uint32_t> stall_after;
  std::optional<Delay> stall_for;  // absent: for good
  std::optional<std::uint32_t> malformed_after;
  bool no_done = false;
};

// Adds the faults named in `text`. Throws std::invalid_argument with what is wrong and what would be right.
void parse_faults(std::string_view text, FaultSet& faults);

// `500ms`, `2s`, `1m`; at most a day. Throws std::invalid_argument.
Delay parse_delay(std::string_view text);

struct FaultRule {
  std::string text;                    // as parse_faults takes it
  double probability = 1;              // 0 to 1
  std::optional<std::uint64_t> count;  // how often it may still happen; absent: without end
  std::string path = "/v1/";           // prefix of the paths it applies to
};

class FaultBook {
 public:
  static constexpr std::size_t max_rules = 64;

  explicit FaultBook(std::uint64_t seed) : random_(seed) {}

  // Replaces all rules. REQUIRES: at most max_rules, each with a text that parses.
  void set_rules(std::vector<FaultRule> rules) { rules_ = std::move(rules); }
  const std::vector<FaultRule>& rules() const { return rules_; }

  // The faults for one request: every rule that applies is drawn, later rules win where they contradict, and what the
  // request's own header asks for wins over all. Throws as parse_faults.
  FaultSet draw(std::string_view path, std::string_view header);

 private:
  std::vector<FaultRule> rules_;
  std::mt19937_64 random_;
};

}  // namespace brink::sim
