// brink-model: serves a GGUF file over OpenAI's API, in a process of its own. docs/local-model.md describes it; the
// exit status is 0 after SIGTERM or SIGINT, 1 failed while running, 2 bad usage, 3 the model cannot be used.
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "proxy/model/api.hpp"
#include "proxy/model/http_listener.hpp"
#include "proxy/model/llama/engine.hpp"
#include "proxy/model/llama/log.hpp"
#include "proxy/model/options.hpp"
#include "proxy/model/process.hpp"

namespace {

using namespace brink::model;

// What must be over within this time after a signal, else the process ends without it.
constexpr auto stop_limit = std::chrono::milliseconds(700);

int load_seconds(const Options& options) {
  if (options.load_limit > 0) return options.load_limit;
  std::error_code error;
  const auto size = std::filesystem::file_size(options.file, error);
  return 8 + (error ? 0 : static_cast<int>(size >> 24));
}

// The process: the I/O thread is the one that calls run(), the other loads the model and then evaluates.
class Server {
 public:
  explicit Server(const Options& options)
      : options_(options),
        signals_(context_, SIGTERM, SIGINT),
        stdin_(context_),
        api_(context_, options.alias),
        listener_(context_, options.listen,
                  [this](const auto& request, auto connection) { api_.serve(request, connection); }) {}

  int run() {
    std::fprintf(stderr, "brink-model: listening on %s\n", listener_.address().c_str());
    signals_.async_wait([this](boost::system::error_code, int) { context_.stop(); });
    if (options_.end_with_stdin) {
      stdin_.assign(STDIN_FILENO);
      watch_stdin();
    }
    std::thread evaluator([this] { evaluate(); });
    context_.run();
    stop_ = true;
    {
      const std::scoped_lock lock(mutex_);
      if (scheduler_) scheduler_->stop();
    }
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, stop_limit, [this] { return evaluated_; })) {
      if (!listener_.unix_path().empty()) ::unlink(listener_.unix_path().c_str());
      ::_exit(status_);
    }
    lock.unlock();
    evaluator.join();
    return status_;
  }

 private:
  void watch_stdin() {
    stdin_.async_read_some(boost::asio::buffer(ignored_), [this](boost::system::error_code error, std::size_t) {
      error ? context_.stop() : watch_stdin();
    });
  }

  void evaluate() {
    try {
      load();
      if (!stop_) scheduler_->run();
    } catch (const std::exception& error) {
      if (!stop_) end(exit_failed, error.what());
    }
    const std::scoped_lock lock(mutex_);
    evaluated_ = true;
    ended_.notify_one();
  }

  void load() {
    try {
      const LoadGuard guard(options_.file, listener_.unix_path(), load_seconds(options_));
      engine_ = std::make_unique<LlamaEngine>(options_, stop_);
    } catch (const std::exception& error) {
      const char* hint = options_.memory_cap > 0 ? "; --memory-cap may be too low" : "";
      if (!stop_) end(exit_bad_model, options_.file + ": cannot be used: " + error.what() + hint);
      stop_ = true;
      return;
    }
    {
      const std::scoped_lock lock(mutex_);
      scheduler_ = std::make_unique<Scheduler>(*engine_, static_cast<std::size_t>(options_.queue));
      if (stop_) return;
    }
    api_.attach(*engine_, *scheduler_);
    std::fprintf(stderr, "brink-model: ready, %s is %s\n", options_.alias.c_str(), engine_->describe().c_str());
  }

  void end(int status, const std::string& why) {
    std::fprintf(stderr, "brink-model: %s\n", why.c_str());
    boost::asio::post(context_, [this, status] {
      status_ = status;
      context_.stop();
    });
  }

  // In this order: the scheduler's jobs hold connections, which belong to the context.
  const Options& options_;
  std::atomic<bool> stop_ = false;
  boost::asio::io_context context_;
  std::unique_ptr<LlamaEngine> engine_;   // of the evaluating thread, until it has ended
  std::unique_ptr<Scheduler> scheduler_;  // guarded by mutex_ until the API has it
  boost::asio::signal_set signals_;
  boost::asio::posix::stream_descriptor stdin_;
  std::array<char, 64> ignored_{};
  Api api_;
  HttpListener listener_;
  int status_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool evaluated_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  int status = 0;
  const auto options = parse_options(argc, argv, status);
  if (!options) return status;
  // Otherwise ggml starts a debugger, if there is one, to print where it gave up.
  ::setenv("GGML_NO_BACKTRACE", "1", 1);
  catch_log(options->verbose);
  try {
    set_nice(options->nice);
    set_cpus(options->cpus);
    cap_memory(options->memory_cap);
    return Server(*options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "brink-model: %s\n", error.what());
    return exit_failed;
  }
}
