#include "proxy/model/process.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace brink::model {

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

// What a signal handler may use: fixed buffers only, filled before.
struct Crash {
  std::array<char, 512> file{};
  std::array<char, 512> clean_up{};
  std::array<char, 512> said{};
};
Crash crash;
std::atomic<bool> guarding = false;
constexpr std::array crash_signals = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, crash_signals.size()> actions_before;
std::array<char, 65536> signal_stack;

template <std::size_t Size>
void copy(std::array<char, Size>& to, const char* text) {
  std::snprintf(to.data(), to.size(), "%s", text);
}

void print(const char* text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

[[noreturn]] void end(const char* why) {
  print("brink-model: ");
  print(crash.file.data());
  print(": ");
  print(why);
  if (crash.said[0]) {
    print("; llama.cpp said: ");
    print(crash.said.data());
  }
  print("\n");
  if (crash.clean_up[0]) ::unlink(crash.clean_up.data());
  ::_exit(exit_bad_model);
}

void on_crash(int signal) {
  if (signal == SIGABRT) end("llama.cpp gave up on this file (SIGABRT)");
  if (signal == SIGBUS) end("the file became shorter while it was read (SIGBUS)");
  if (signal == SIGFPE) end("llama.cpp crashed on this file (SIGFPE)");
  end("llama.cpp crashed on this file (SIGSEGV)");
}

}  // namespace

void set_nice(int nice) {
  if (nice != 0 && ::setpriority(PRIO_PROCESS, 0, nice) != 0) fail("--nice " + std::to_string(nice));
}

void set_cpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) fail("--cpus");
}

void cap_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) fail("--memory-cap");
}

LoadGuard::LoadGuard(const std::string& file, const std::string& clean_up, int seconds) {
  copy(crash.file, file.c_str());
  copy(crash.clean_up, clean_up.c_str());
  copy(crash.said, "");
  // Its own stack, since running out of the usual one is one of the crashes. Each thread has to name it; the others'
  // crashes are handled on the stack they have.
  const stack_t stack{.ss_sp = signal_stack.data(), .ss_flags = 0, .ss_size = signal_stack.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < crash_signals.size(); ++i) ::sigaction(crash_signals[i], &action, &actions_before[i]);
  guarding = true;
  watcher_ = std::thread([this, seconds] { watch(seconds); });
}

LoadGuard::~LoadGuard() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  watcher_.join();
  guarding = false;
  for (std::size_t i = 0; i < crash_signals.size(); ++i) ::sigaction(crash_signals[i], &actions_before[i], nullptr);
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ::sigaltstack(&none, nullptr);
}

void LoadGuard::note(const char* text) { copy(crash.said, text); }
bool LoadGuard::active() { return guarding; }

void LoadGuard::watch(int seconds) {
  std::unique_lock lock(mutex_);
  if (!wake_.wait_for(lock, std::chrono::seconds(seconds), [&] { return done_; })) {
    end(("it was not loaded within " + std::to_string(seconds) + " s").c_str());
  }
}

}  // namespace brink::model
