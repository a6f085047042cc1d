// What this process asks of the operating system: its priority, its CPUs, its limit of memory; and that whatever goes
// wrong in native code while an untrusted file is loaded ends in one clear line and a known exit status.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace brink::model {

inline constexpr int exit_failed = 1;     // could not listen, or failed while running
inline constexpr int exit_usage = 2;      // the command line
inline constexpr int exit_bad_model = 3;  // the file cannot be used: no GGUF, broken, too large, unknown to llama.cpp

// Each throws std::runtime_error with what the system said. Before other threads start, which inherit all of it.
void set_nice(int nice);
void set_cpus(const std::vector<int>& cpus);
void cap_memory(std::uint64_t bytes);  // of address space (RLIMIT_AS): mapped files count

// While it lives, a crash (a failed assertion inside llama.cpp, a file that is cut while it is mapped) or a load that
// takes longer than `seconds` prints why and ends the process with exit_bad_model. One at a time.
class LoadGuard {
 public:
  // `clean_up`: a path to unlink when the process ends so; may be empty.
  LoadGuard(const std::string& file, const std::string& clean_up, int seconds);
  ~LoadGuard();
  LoadGuard(const LoadGuard&) = delete;

  // The last that the loader said, to be repeated by the crash's line. Any thread.
  static void note(const char* text);
  static bool active();

 private:
  void watch(int seconds);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace brink::model
