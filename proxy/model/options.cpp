#include "proxy/model/options.hpp"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "conf/units.hpp"

namespace brink::model {

namespace {

// A NUMA node's CPUs; the kernel then places the memory that they touch first on the node.
std::string node_cpus(int node) {
  std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  std::string list;
  if (!std::getline(file, list)) throw CLI::ValidationError("--numa-node", "there is no node " + std::to_string(node));
  return list;
}

// What CLI11 cannot check by itself. Throws CLI::ValidationError.
void complete(Options& options, const std::string& cpus, int node, const std::string& memory) {
  if (!cpus.empty() && node >= 0) throw CLI::ValidationError("--cpus", "excludes --numa-node");
  const std::string list = node >= 0 ? node_cpus(node) : cpus;
  if (!list.empty()) {
    const auto parsed = parse_cpus(list);
    if (!parsed) throw CLI::ValidationError("--cpus", "\"" + list + "\" is no list as in 0-3,8");
    options.cpus = *parsed;
  }
  if (!memory.empty()) {
    const auto bytes = conf::parse_size(memory);
    if (!bytes || *bytes <= 0) throw CLI::ValidationError("--memory-cap", "\"" + memory + "\" is no size as in 512MiB");
    options.memory_cap = static_cast<std::uint64_t>(*bytes);
  }
  if (options.parallel > options.batch) throw CLI::ValidationError("--batch", "must be at least --parallel");
  if (options.alias.empty()) options.alias = std::filesystem::path(options.file).stem().string();
}

}  // namespace

std::optional<std::vector<int>> parse_cpus(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&](int& value) {
    const auto [stop, error] = std::from_chars(at, end, value);
    at = stop;
    return error == std::errc{} && value >= 0 && value < CPU_SETSIZE;
  };
  for (;;) {
    int first = 0;
    if (!number(first)) return std::nullopt;
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return std::nullopt;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == end) return cpus;
    if (*at++ != ',') return std::nullopt;
  }
}

std::optional<Options> parse_options(int argc, char** argv, int& status) {
  Options options;
  std::string cpus, memory;
  int node = -1;
  CLI::App app("Serves a GGUF file over OpenAI's API on this machine", "brink-model");
  app.add_option("--file", options.file, "the model, a GGUF file")->required();
  app.add_option("--listen", options.listen, "unix:PATH, or HOST:PORT of a loopback address")->required();
  app.add_option("--alias", options.alias, "the model's name in answers (default: the file's)");
  app.add_option("--chat-template", options.chat_template, "a template by llama.cpp's name, or `plain`");
  app.add_option("--threads", options.threads, "threads that compute")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--parallel", options.parallel, "sequences decoded together")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--context", options.context, "tokens a sequence, prompt and answer")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "tokens evaluated in one step")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  app.add_option("--queue", options.queue, "requests that wait for a sequence; more get 503")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--nice", options.nice, "CPU priority, 19 the lowest")
      ->check(CLI::Range(-20, 19))
      ->capture_default_str();
  app.add_option("--cpus", cpus, "CPUs to run on, as in 0-3,8");
  app.add_option("--numa-node", node, "run on the CPUs of this node")->check(CLI::Range(0, 1023));
  app.add_option("--memory-cap", memory, "address space at most, as in 2GiB; the file counts");
  app.add_option("--load-limit", options.load_limit, "seconds for loading (default: 8, and one for each 16 MiB)")
      ->check(CLI::Range(1, 86400));
  app.add_option("--backends", options.backends, "folder of ggml's backends (default: where libllama lies)");
  app.add_flag("--end-with-stdin", options.end_with_stdin,
               "end when standard input does: no orphan outlives its parent");
  app.add_flag("--verbose", options.verbose, "pass on what llama.cpp logs");
  try {
    app.parse(argc, argv);
    complete(options, cpus, node, memory);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  return options;
}

}  // namespace brink::model
