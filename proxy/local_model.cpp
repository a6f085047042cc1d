#include "proxy/local_model.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "conf/syntax.hpp"
#include "proxy/observe/log.hpp"

namespace brink {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds first_pause{200};
constexpr milliseconds longest_pause{30'000};
constexpr milliseconds steady_after{60'000};  // who ran for so long starts again at once
constexpr milliseconds probe_every{1'000};
constexpr milliseconds probe_limit{1'000};
constexpr unsigned most_silent = 3;  // probes without an answer, then it counts as hung
constexpr milliseconds stop_limit{1'500};
constexpr std::size_t longest_line = 1'000;

std::string program_beside_this() {
  error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path() / "brink-model").string();
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return std::string("killed by signal ") + ::strsignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (code == 3) return "exit status 3: the model cannot be used";
  if (code == 127) return "the program cannot be started";
  return "exit status " + std::to_string(code);
}

}  // namespace

// One GET /health.
class LocalModel::Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(asio::io_context& context, LocalModel& model) : socket_(context), timer_(context), model_(&model) {}

  void run(const std::string& path) {
    timer_.expires_after(probe_limit);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->done(false, false);
    });
    socket_.async_connect(asio::local::stream_protocol::endpoint(path), [self = shared_from_this()](error_code error) {
      // Not listening yet is an answer: it has not come so far.
      if (error) return self->done(!self->model_ || !self->model_->ready_, false);
      self->ask();
    });
  }
  void forget() {
    model_ = nullptr;
    done(false, false);
  }

 private:
  void ask() {
    static constexpr std::string_view request = "GET /health HTTP/1.1\r\nhost: brink\r\nconnection: close\r\n\r\n";
    asio::async_write(socket_, asio::buffer(request), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->done(false, false);
      self->socket_.async_read_some(asio::buffer(self->answer_), [self](error_code failed, std::size_t size) {
        const std::string_view text(self->answer_.data(), size);
        self->done(!failed, !failed && text.substr(0, 12) == "HTTP/1.1 200");
      });
    });
  }
  void done(bool answered, bool ready) {
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
    if (model_ != nullptr) std::exchange(model_, nullptr)->probed(answered, ready);
  }

  asio::local::stream_protocol::socket socket_;
  asio::steady_timer timer_;
  LocalModel* model_;
  std::array<char, 256> answer_{};
};

LocalModel::LocalModel(asio::io_context& context, const conf::LocalModelConfig& config)
    : context_(context),
      config_(config),
      ended_(context),
      output_(context),
      restart_(context),
      probe_timer_(context),
      pause_(first_pause) {
  std::string name = (std::filesystem::temp_directory_path() / "brink-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "a folder for the local model's socket");
  }
  folder_ = name;
  socket_ = folder_ + "/model.sock";
  start();
}

LocalModel::~LocalModel() {
  if (probe_) probe_->forget();
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    const auto deadline = Clock::now() + stop_limit;
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (Clock::now() >= deadline) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

LocalModel::View LocalModel::view() const {
  return {pid_ == 0 ? "waiting" : ready_ ? "ready" : "starting", pid_, starts_, last_exit_};
}

conf::ClusterConfig LocalModel::cluster(const conf::LocalModelConfig& config, const std::string& socket) {
  conf::ClusterConfig cluster;
  cluster.name = cluster_name;
  conf::EndpointConfig& endpoint = cluster.endpoints.emplace_back();
  if (config.url.empty()) {
    endpoint.path = socket;
    endpoint.url = "unix://" + socket;
  } else {
    conf::Target server;
    conf::parse_url(config.url, server);  // checked when it was read
    endpoint.url = config.url;
    endpoint.host = server.host;
    endpoint.port = server.port;
    endpoint.path = server.path;
  }
  endpoint.label = "local-model";
  conf::HealthCheckConfig& check = cluster.health_check.emplace();
  check.interval = milliseconds(500);
  check.timeout = milliseconds(500);
  check.unhealthy_after = 1;
  check.healthy_after = 1;
  cluster.outlier.consecutive_failures = 0;
  cluster.outlier.failure_share = 0;
  cluster.panic_threshold = 0;
  cluster.limits.requests = config.url.empty() ? config.parallel + config.queue : 1024;
  return cluster;
}

std::vector<std::string> LocalModel::arguments() const {
  std::vector<std::string> arguments = {
      config_.program.empty() ? program_beside_this() : config_.program,
      "--file",
      config_.file,
      "--listen",
      "unix:" + socket_,
      "--threads",
      std::to_string(config_.threads),
      "--parallel",
      std::to_string(config_.parallel),
      "--context",
      std::to_string(config_.context),
      "--queue",
      std::to_string(config_.queue),
      "--nice",
      std::to_string(config_.nice),
  };
  const auto add = [&](const char* option, const std::string& value) {
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  if (!config_.cpus.empty()) add("--cpus", config_.cpus);
  if (config_.memory > 0) add("--memory-cap", std::to_string(config_.memory) + "B");
  if (!config_.chat_template.empty()) add("--chat-template", config_.chat_template);
  return arguments;
}

void LocalModel::start() {
  ready_ = false;
  silent_ = 0;
  ++starts_;
  started_ = Clock::now();
  const std::vector<std::string> arguments = this->arguments();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    last_exit_ = std::string("no pipe: ") + std::strerror(errno);
    return retry();
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // Only what is safe between fork and exec in a process with threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with us, however we end
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, 0);
    ::dup2(pipe[1], 1);
    ::dup2(pipe[1], 2);
    // Or a client's connection would stay open in there after we have closed it.
    if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) {
      for (int descriptor = 3; descriptor < 65'536; ++descriptor) ::close(descriptor);
    }
    ::execv(argv[0], argv.data());
    const char* const why = std::strerror(errno);
    (void)!::write(2, why, std::strlen(why));
    (void)!::write(2, "\n", 1);
    ::_exit(127);
  }
  ::close(pipe[1]);
  const int pidfd = child < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (pidfd < 0) {
    last_exit_ = std::string("cannot be started: ") + std::strerror(errno);
    ::close(pipe[0]);
    if (child > 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    return retry();
  }
  pid_ = child;
  observe::log_info("local model: started " + arguments.front() + " (pid " + std::to_string(pid_) + ") for " +
                    config_.file);
  line_.clear();
  output_.assign(pipe[0]);
  ended_.assign(pidfd);
  read_output();
  watch();
  probe();
}

void LocalModel::read_output() {
  output_.async_read_some(asio::buffer(buffer_), [this](error_code error, std::size_t size) {
    if (error) return;
    take_output(size);
    read_output();
  });
}

void LocalModel::take_output(std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (buffer_[i] != '\n') {
      if (line_.size() < longest_line) line_ += buffer_[i];
      continue;
    }
    if (!line_.empty()) observe::log_info("local model: " + line_);
    line_.clear();
  }
}

void LocalModel::watch() {
  ended_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
    if (!error) ended();
  });
}

void LocalModel::ended() {
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) last_exit_ = describe(status);
  // What it said last is still in the pipe.
  output_.non_blocking(true);
  for (error_code error; !error;) {
    const std::size_t size = output_.read_some(asio::buffer(buffer_), error);
    if (!error) take_output(size);
  }
  error_code ignored;
  output_.close(ignored);
  ended_.close(ignored);
  pid_ = 0;
  ready_ = false;
  probe_timer_.cancel();
  if (probe_) probe_->forget();
  probe_.reset();
  if (Clock::now() - started_ >= steady_after) pause_ = first_pause;
  retry();
}

void LocalModel::retry() {
  observe::log_error("local model: " + last_exit_ + (line_.empty() ? "" : " (" + line_ + ")") +
                     "; starting it again in " + std::to_string(pause_.count()) + " ms");
  restart_.expires_after(pause_);
  pause_ = std::min(pause_ * 2, longest_pause);
  restart_.async_wait([this](error_code error) {
    if (!error) start();
  });
}

void LocalModel::probe() {
  probe_timer_.expires_after(ready_ ? probe_every : probe_every / 10);
  probe_timer_.async_wait([this](error_code error) {
    if (error || pid_ == 0) return;
    probe_ = std::make_shared<Probe>(context_, *this);
    probe_->run(socket_);
  });
}

void LocalModel::probed(bool answered, bool ready) {
  probe_.reset();
  if (pid_ == 0) return;
  silent_ = answered ? 0 : silent_ + 1;
  if (ready && !ready_) {
    ready_ = true;
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
    observe::log_info("local model: ready after " + std::to_string(took.count()) + " ms");
  }
  if (silent_ >= most_silent) return kill_it("does not answer");
  if (!ready_ && Clock::now() - started_ > config_.start_timeout) return kill_it("is not ready within start_timeout");
  probe();
}

void LocalModel::kill_it(const std::string& why) {
  observe::log_error("local model: pid " + std::to_string(pid_) + " " + why + ": killed");
  ::kill(pid_, SIGKILL);  // watch() sees it end
}

}  // namespace brink
