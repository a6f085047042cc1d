// cache-ratio [DIRECTORY]: hit ratios of the memory tier and of a plain LRU of the same budget, as a Markdown table.
// Replays Zipf traces, and each *.jsonl of the directory whose lines have `hash_ids`, the blocks of 512 tokens of a
// prompt's prefix (the format of the Mooncake traces): each block is one access. Other files are named and left out.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cache/memory/traces.hpp"

namespace brink::cache {
namespace {

constexpr double parts[] = {0.01, 0.05, 0.1, 0.25};

void print_row(const std::string& name, const Trace& trace) {
  const std::size_t objects = trace.objects();
  const std::size_t footprint = trace.footprint();
  std::printf("| %s | %zu | %zu | %zu | %.3f |", name.c_str(), trace.accesses.size(), objects, footprint >> 20,
              1 - static_cast<double>(objects) / static_cast<double>(trace.accesses.size()));
  for (const double part : parts) {
    const auto budget = static_cast<std::size_t>(part * static_cast<double>(footprint));
    std::printf(" %.3f / %.3f |", replay_store(trace, budget), replay_lru(trace, budget));
    std::fflush(stdout);
  }
  std::printf("\n");
}

void print_zipf() {
  for (const double once : {0.0, 0.2}) {
    for (const double alpha : {0.7, 0.9, 1.1}) {
      char name[80];
      std::snprintf(name, sizeof name, "Zipf %.1f%s", alpha, once > 0 ? ", 20 % come once" : "");
      print_row(name, zipf_trace({.alpha = alpha, .once = once}));
    }
  }
}

// Nothing to replay: empty.
Trace read_blocks(const std::filesystem::path& path) {
  Trace trace;
  trace.body = 2048;  // all blocks are of 512 tokens, about four bytes each
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
    if (!request.is_object() || !request.contains("hash_ids")) return {};
    for (const nlohmann::json& block : request["hash_ids"]) trace.accesses.push_back(block.get<std::uint64_t>());
  }
  return trace;
}

void print_directory(const char* directory, std::string& left_out) {
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    const std::string name = file.path().filename().string();
    const Trace trace = file.path().extension() == ".jsonl" ? read_blocks(file.path()) : Trace{};
    if (trace.accesses.empty()) {
      left_out += "\nLeft out: " + name + ", which has no keys of objects.\n";
    } else {
      print_row(name, trace);
    }
  }
}

}  // namespace
}  // namespace brink::cache

int main(int count, char** arguments) try {
  std::printf("Each cell: hit ratio of the memory tier (S3-FIFO) / of LRU, by the cache's part of the footprint.\n\n");
  std::printf("| trace | accesses | objects | footprint, MiB | limit |");
  for (const double part : brink::cache::parts) std::printf(" %g %% |", part * 100);
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
  brink::cache::print_zipf();
  std::string left_out;
  if (count > 1) brink::cache::print_directory(arguments[1], left_out);
  std::printf("%s", left_out.c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cache-ratio: %s\n", error.what());
  return 1;
}
