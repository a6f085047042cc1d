// gpu-sim: the command line of the simulated GPU engine; docs/gpu-sim.md describes it.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <iostream>
#include <stdexcept>

#include "tests/sim/server.hpp"

namespace {

using brink::sim::ServerConfig;

CLI::Validator duration() {
  return {[](std::string& text) -> std::string {
            try {
              text = std::to_string(brink::sim::parse_delay(text).count());
              return {};
            } catch (const std::invalid_argument& error) {
              return error.what();
            }
          },
          "DURATION", "duration"};
}

void add_options(CLI::App& app, ServerConfig& config, std::int64_t& idle_close_ms, std::int64_t& cold_for_ms) {
  brink::sim::EngineConfig& engine = config.engine;
  const CLI::Range positive(1e-9, 1e9);
  const CLI::Range not_negative(0.0, 1e9);
  app.add_option("--listen", config.listen, "address:port; port 0 takes a free one")->capture_default_str();
  app.add_option("--unix", config.unix_path, "listen on this Unix socket (too, if --listen is given)");
  app.add_option("--name", config.name, "sent as x-sim-node")->capture_default_str();
  app.add_option("--model", config.models, "a model to serve; may be repeated")->capture_default_str();
  app.add_option("--prefill-tokens-per-ms", engine.prefill_tokens_per_ms, "prompt tokens a millisecond")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--step-ms", engine.step_ms, "a of the step's a + b x batch")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--step-batch-ms", engine.step_batch_ms, "b of the step's a + b x batch")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--max-batch", engine.max_batch, "requests decoded together")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  app.add_option("--max-queue", engine.max_queue, "waiting requests; past it 503")
      ->check(CLI::Range(0U, 1U << 20))
      ->capture_default_str();
  app.add_option("--kv-blocks", engine.kv_blocks, "KV memory in blocks of 16 tokens")
      ->check(CLI::Range(1U, 1U << 24))
      ->capture_default_str();
  app.add_option("--slowness", engine.slowness, "every step takes this many times longer")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--cold-factor", config.cold_factor, "this much slower at the start")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--cold-for", cold_for_ms, "until the cold start is over (0ms: none)")->transform(duration());
  app.add_option("--seed", config.seed, "of answers and of the faults' chances")->capture_default_str();
  app.add_option("--idle-close", idle_close_ms, "closes an idle connection after this (5s)")->transform(duration());
  app.add_option("--speed", config.speed, "engine milliseconds in a real one")->check(positive)->capture_default_str();
  app.add_flag("--early-head", config.early_head, "a stream's head goes out at once, not with the first token");
}

// Streams by the thousand need descriptors by the thousand.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::cerr << "gpu-sim: the descriptor limit stays as it is\n";
}

int run(const ServerConfig& config) {
  boost::asio::io_context io(1);
  brink::sim::Server server(io, config);
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
  if (!config.listen.empty()) std::cout << "gpu-sim: listening on " << server.tcp_address() << std::endl;
  if (!config.unix_path.empty()) std::cout << "gpu-sim: listening on unix:" << config.unix_path << std::endl;
  io.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An OpenAI-compatible server that behaves like a GPU engine.", "gpu-sim");
  ServerConfig config;
  std::int64_t idle_close_ms = config.idle_close.count();
  std::int64_t cold_for_ms = 0;
  add_options(app, config, idle_close_ms, cold_for_ms);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  config.idle_close = std::chrono::milliseconds(idle_close_ms);
  config.cold_for = std::chrono::milliseconds(cold_for_ms);
  if (!config.unix_path.empty() && app.count("--listen") == 0) config.listen.clear();
  raise_descriptor_limit();
  try {
    return run(config);
  } catch (const std::invalid_argument& error) {
    std::cerr << "gpu-sim: " << error.what() << std::endl;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "gpu-sim: " << error.what() << std::endl;
    return 1;
  }
}
