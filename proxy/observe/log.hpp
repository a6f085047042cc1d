// The process log: what an operator should know, one line each on standard error:
//   2026-12-01T13:00:00.123Z WARN message
// Control characters in a message are escaped, so that no client can forge a line. Any thread; not for the data path of
// a healthy request. Hides spdlog, which is slow to compile.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "router/endpoint_state.hpp"

namespace brink::observe {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

void set_log_level(LogLevel level);  // default: info

void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);

// Appends `text` with control characters written as \x0a.
void append_printable(std::string& out, std::string_view text);

// Holds a call site to one line a second: `static LogLimit limit; log_warn(limit, "...");`. The next line that passes
// says how many were left out.
class LogLimit {
 public:
  // The number left out since the last line that passed, or nothing if this line is to be left out too.
  std::optional<std::uint64_t> admit(router::Time now);

 private:
  std::atomic<std::int64_t> next_ns_{INT64_MIN};
  std::atomic<std::uint64_t> suppressed_{0};
};

void log_warn(LogLimit& limit, std::string_view message);
void log_error(LogLimit& limit, std::string_view message);

}  // namespace brink::observe
