#include "proxy/observe/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "proxy/observe/log.hpp"

namespace brink::observe {

// An open target. Closed when neither the log nor the thread's current write needs it.
struct AccessLog::Output {
  int fd = -1;
  bool socket = false;
  bool torn = false;  // the last write ended inside a line

  ~Output() { ::close(fd); }
  ssize_t write(const char* data, std::size_t size) const {
    return socket ? ::send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) : ::write(fd, data, size);
  }
};

namespace {

constexpr auto gather_time = std::chrono::milliseconds(20);

// Standard output without blocking on a reader that is slow: O_NONBLOCK belongs to the open file, which other processes
// may share, so a pipe or terminal is opened anew; a regular file never blocks for long; sockets are told with each
// send.
int open_standard_output(bool& socket) {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0) return -1;
  socket = S_ISSOCK(status.st_mode);
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    const int fd = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) return fd;
  }
  return ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

AccessLog::AccessLog(std::string file, std::size_t queue_bytes) : queue_limit_(queue_bytes) {
  open(file);
  // Signals are the control thread's; SIGPIPE would otherwise end the process when the reader of a pipe goes away.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AccessLog::~AccessLog() { stop(); }

void AccessLog::open(const std::string& file) {
  std::shared_ptr<Output> output;
  if (file != "off") {
    output = std::make_shared<Output>();
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    output->fd = file == "-" ? open_standard_output(output->socket) : ::open(file.c_str(), flags, 0640);
    if (output->fd < 0) {
      const std::string name = file == "-" ? "standard output" : file;
      throw std::system_error(errno, std::system_category(), "access_log.file: cannot open " + name + " for appending");
    }
  }
  const std::lock_guard lock(mutex_);
  file_ = file;
  output_ = std::move(output);
  enabled_.store(output_ != nullptr, std::memory_order_relaxed);
}

void AccessLog::reopen() {
  std::string file;
  {
    const std::lock_guard lock(mutex_);
    file = file_;
  }
  open(file);
}

void AccessLog::stop(std::chrono::milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    stop_at_ = std::chrono::steady_clock::now() + limit;
    enabled_.store(false, std::memory_order_relaxed);
  }
  wake_.notify_one();
  thread_.join();
}

void AccessLog::submit(LogBlock& block) {
  if (block.size == 0) return;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    wake = queue_.empty();
    LogBlock* last = queue_.empty() ? nullptr : &queue_.back();
    if (stopping_ || output_ == nullptr || queued_bytes_ + block.size > queue_limit_) {
      dropped_.fetch_add(block.lines, std::memory_order_relaxed);
      block.size = 0;
      block.lines = 0;
      return;
    }
    queued_bytes_ += block.size;
    wake = wake || queued_bytes_ > queue_limit_ / 4;
    if (last != nullptr && last->capacity - last->size >= block.size) {
      // Many small blocks would hold far more memory than the bytes they count for.
      std::memcpy(last->data.get() + last->size, block.data.get(), block.size);
      last->size += std::exchange(block.size, 0);
      last->lines += std::exchange(block.lines, 0);
    } else {
      queue_.push_back(std::exchange(block, LogBlock{}));
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
    }
  }
  if (wake) wake_.notify_one();
}

void AccessLog::run() {
  std::vector<LogBlock> blocks;
  for (;;) {
    std::shared_ptr<Output> output;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) break;
      // Under load more follows at once: a short rest makes one wake-up of many.
      wake_.wait_for(lock, gather_time, [&] { return stopping_ || queued_bytes_ > queue_limit_ / 4; });
      blocks.swap(queue_);
      output = output_;
    }
    for (LogBlock& block : blocks) {
      write_out(output, block);
      written(block);
    }
    blocks.clear();
    report_losses();
  }
  next_report_ = {};  // the last chance to say so
  report_losses();
}

void AccessLog::write_out(const std::shared_ptr<Output>& output, const LogBlock& block) {
  std::string_view rest(block.data.get(), block.size);
  if (output != nullptr && output->torn) output->torn = output->write("\n", 1) != 1;
  while (!rest.empty() && output != nullptr) {
    const ssize_t size = output->write(rest.data(), rest.size());
    if (size > 0) {
      output->torn = rest[static_cast<std::size_t>(size) - 1] != '\n';
      rest.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!may_wait(output)) break;
    } else if (errno != EINTR) {
      last_error_ = errno;
      break;
    }
  }
  dropped_.fetch_add(count_lines(rest), std::memory_order_relaxed);
}

// Waits a little for the reader of a pipe. False: give up, the log is to end or to go on elsewhere.
bool AccessLog::may_wait(const std::shared_ptr<Output>& output) {
  report_losses();
  {
    const std::lock_guard lock(mutex_);
    if (output != output_ || (stopping_ && std::chrono::steady_clock::now() >= stop_at_)) return false;
  }
  pollfd ready{output->fd, POLLOUT, 0};
  ::poll(&ready, 1, 100);
  return true;
}

void AccessLog::written(LogBlock& block) {
  constexpr std::size_t max_spare = 16;
  const std::lock_guard lock(mutex_);
  queued_bytes_ -= block.size;
  block.size = 0;
  block.lines = 0;
  if (spare_.size() < max_spare) spare_.push_back(std::move(block));
}

void AccessLog::report_losses() {
  const std::uint64_t drops = dropped();
  const auto now = std::chrono::steady_clock::now();
  if (drops == reported_drops_ || now < next_report_) return;
  next_report_ = now + std::chrono::minutes(1);
  std::string message = "access log: " + std::to_string(drops - reported_drops_) + " lines lost; ";
  message += last_error_ != 0 ? "writing failed: " + std::system_category().message(last_error_)
                              : std::string("the target takes them too slowly");
  log_error(message);
  reported_drops_ = drops;
  last_error_ = 0;
}

}  // namespace brink::observe
