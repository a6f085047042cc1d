// The access log: one JSON line for each exchange, written without making a worker wait. A worker formats lines into a
// buffer of its own (AccessLogBuffer) and hands full buffers to one writer thread for the whole process (AccessLog).
// What the writer has not yet written is bounded; past it whole buffers are dropped and their lines counted.
//
// The keys of a line are listed in docs/observability.md.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/http/exchange.hpp"

namespace brink::observe {

using router::Time;

// Whole lines, as they go from a worker to the writer and back empty.
struct LogBlock {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::size_t capacity = 0;
  std::uint64_t lines = 0;
};

// The process's writer. Every method may be called from any thread.
class AccessLog {
 public:
  static constexpr std::size_t default_queue_bytes = 16 * 1024 * 1024;

  // `file`: "-" is standard output, "off" writes nothing, else a path opened for appending (created with mode 0640).
  // Throws std::system_error that names the path when it cannot be opened.
  explicit AccessLog(std::string file, std::size_t queue_bytes = default_queue_bytes);
  ~AccessLog();  // stop()
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // Opens the file of that name and goes on there; with the current name it follows a log rotation. What was queued
  // goes to the new file. On failure throws as the constructor and keeps writing to the old one.
  void open(const std::string& file);
  void reopen();

  // Writes what is queued, for at most `limit`, and ends the thread; later lines are dropped and counted. Idempotent.
  void stop(std::chrono::milliseconds limit = std::chrono::seconds(2));

  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }  // lines never written

  // Takes the block's lines and leaves an empty block in its place. Never waits for the disk.
  void submit(LogBlock& block);

 private:
  struct Output;
  using SteadyTime = std::chrono::steady_clock::time_point;

  void run();
  void write_out(const std::shared_ptr<Output>& output, const LogBlock& block);
  bool may_wait(const std::shared_ptr<Output>& output);
  void written(LogBlock& block);
  void report_losses();

  const std::size_t queue_limit_;
  std::atomic<bool> enabled_{false};
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::string file_;
  std::shared_ptr<Output> output_;  // null: off
  std::vector<LogBlock> queue_;
  std::vector<LogBlock> spare_;   // empty ones for submit() to give back
  std::size_t queued_bytes_ = 0;  // in queue_ and in what the thread is writing
  bool stopping_ = false;
  SteadyTime stop_at_{};

  // The thread's own.
  int last_error_ = 0;
  std::uint64_t reported_drops_ = 0;
  SteadyTime next_report_{};
  std::thread thread_;
};

// A worker's end of the log. All methods are the worker's; the AccessLog must outlive it.
class AccessLogBuffer {
 public:
  static constexpr std::size_t flush_bytes = 32 * 1024;  // handed over when this much has gathered

  explicit AccessLogBuffer(AccessLog& log);
  ~AccessLogBuffer();  // flush()
  AccessLogBuffer(const AccessLogBuffer&) = delete;
  AccessLogBuffer& operator=(const AccessLogBuffer&) = delete;

  // Appends the exchange's line; `now` is its end. Does nothing while the log is off.
  void write(const http::Exchange& exchange, Time now);
  // Hands over what has gathered. Call it every 100 ms or so: it also sets the wall clock by which lines are dated.
  void flush();

 private:
  void set_wall_clock();
  std::string_view date(Time now);

  AccessLog& log_;
  LogBlock block_;
  std::chrono::system_clock::duration wall_offset_{};  // wall clock minus steady clock
  std::int64_t dated_ms_ = -1;                         // what date_ says, milliseconds since 1970
  std::array<char, 24> date_{};                        // "2026-12-01T13:00:00.123Z"
  std::string scratch_;
};

}  // namespace brink::observe
