// What is to be done for a request, decided from its head and body alone; the exchange does it. Single-threaded.
#pragma once

#include <variant>

#include "tests/sim/api.hpp"
#include "tests/sim/context.hpp"
#include "tests/sim/net.hpp"

namespace brink::sim {

struct Work {
  std::variant<Reply, Generation> what;
  FaultSet faults;
  bool counted = false;  // one of the generating endpoints, see Counters
};

// The target without its query.
std::string_view path_of(const Request& request);

Work decide(Context& context, const Request& request);

Reply error_reply(const ApiError& error);

// The /sim/ paths: stats, faults, reset.
Reply admin_reply(Context& context, const Request& request);

}  // namespace brink::sim
