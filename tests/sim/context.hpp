// What all connections of one simulator share. One thread; outlives every connection.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/driver.hpp"
#include "tests/sim/faults.hpp"
#include "tests/sim/metrics.hpp"
#include "tests/sim/net.hpp"

namespace brink::sim {

struct ServerConfig {
  std::string listen = "127.0.0.1:0";  // address:port; empty: no TCP listener
  std::string unix_path;               // empty: no Unix listener
  std::string name = "gpu-sim";        // x-sim-node
  std::vector<std::string> models = {"sim-model"};
  EngineConfig engine;
  double speed = 1;
  std::uint64_t seed = 0;
  std::chrono::milliseconds idle_close{5000};
  bool early_head = false;  // a stream's head goes out when the request is taken, not with the first token
  double cold_factor = 1;
  std::chrono::milliseconds cold_for{0};
};

struct Context {
  Context(asio::io_context& context, ServerConfig server_config)
      : io(context),
        config(std::move(server_config)),
        driver(context, config.engine, config.speed, counters),
        faults(config.seed) {}

  asio::io_context& io;
  const ServerConfig config;
  Counters counters;
  Gauges gauges;
  EngineDriver driver;
  FaultBook faults;
  std::uint64_t last_answer = 0;  // numbers the answers' ids
};

}  // namespace brink::sim
