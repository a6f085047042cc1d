// The command line of brink-model. docs/local-model.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brink::model {

struct Options {
  std::string file;
  std::string listen;
  std::string alias;          // default: the file's name without .gguf
  std::string chat_template;  // empty: the model's own
  std::string backends;       // folder of ggml's backends; empty: where libllama lies
  int threads = 2;
  int parallel = 4;
  int context = 4096;  // tokens a sequence
  int batch = 256;     // tokens a step
  int queue = 16;
  int nice = 0;
  std::vector<int> cpus;         // empty: all that the process may use
  std::uint64_t memory_cap = 0;  // bytes of address space; 0: none
  int load_limit = 0;            // seconds; 0: by the file's size
  bool end_with_stdin = false;   // whoever started us holds the other end, and with it our life
  bool verbose = false;
};

// Nothing after it printed what is wrong, or the help; then `status` is what to exit with.
std::optional<Options> parse_options(int argc, char** argv, int& status);

// "0-3,8" → 0 1 2 3 8, as the kernel writes lists of CPUs; nothing if it is none.
std::optional<std::vector<int>> parse_cpus(const std::string& text);

}  // namespace brink::model
