// What a simulated edge does: picks an engine for each request and is told what a proxy would see of it. The shipped
// pickers and those of the rivals stand behind this one interface, so all see exactly the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brink::fleet {

using Time = double;  // milliseconds since the start of the run

struct Request {
  Time arrival = 0;
  std::uint32_t id = 0;                   // index in the run, dense from 0
  std::uint32_t prompt_tokens = 1;        // >= 1
  std::uint32_t output_tokens = 1;        // >= 1; a policy must not look at it before the answer has ended
  std::span<const std::uint32_t> blocks;  // names of the prompt's blocks of 512 tokens, in order; may be empty
};

// What an edge may know of its engines from the configuration.
struct FleetShape {
  std::vector<double> weights;     // one for each engine
  std::uint32_t edges = 1;         // how many edges share the engines; only rivals whose formula asks for it may look
  std::uint32_t batch_cap = 8;     // sequences an engine decodes at once
  std::uint32_t cache_blocks = 0;  // blocks that an engine's prefix cache keeps; 0: none
  static constexpr double bytes_per_token = 4;
};

// Numbers an engine publishes, as an edge reads them.
struct Scrape {
  Time at = -1;  // below 0: never scraped
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
  double kv_use = 0;  // 0 to 1
};

// One edge's picker. Calls come in the order of simulated time.
class Policy {
 public:
  static constexpr int none = -1;
  virtual ~Policy() = default;
  // The engine for this request, or `none`. `excluded` were tried already.
  virtual int pick(const Request& request, Time now, std::span<const std::uint32_t> excluded) = 0;
  virtual void sent(const Request&, std::uint32_t /*engine*/, Time) {}
  virtual void first_token(const Request&, std::uint32_t /*engine*/, Time) {}
  virtual void token(const Request&, std::uint32_t /*engine*/, Time) {}  // each token after the first
  virtual void finished(const Request&, std::uint32_t /*engine*/, Time) {}
  virtual void failed(const Request&, std::uint32_t /*engine*/, Time) {}  // no answer came from it
  virtual void scraped(std::uint32_t /*engine*/, const Scrape&, Time) {}
};

// Makes the policy of this name for one edge. Null: unknown name.
std::unique_ptr<Policy> make_policy(std::string_view name, const FleetShape& shape, std::uint64_t seed);
std::unique_ptr<Policy> make_rival(std::string_view name, const FleetShape& shape, std::uint64_t seed);
std::vector<std::string> shipped_names();
std::vector<std::string> rival_names();

}  // namespace brink::fleet
