#include "proxy/observe/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>
#include <string>

namespace brink::observe {
namespace {

spdlog::logger& logger() {
  // Never destroyed: a thread may still log while the process ends.
  static auto* const instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_formatter(
        std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc));
    auto* made = new spdlog::logger("brink", std::move(sink));
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

void write(spdlog::level::level_enum level, std::string_view name, std::string_view message) {
  if (!logger().should_log(level)) return;
  std::string line(name);
  append_printable(line, message);
  logger().log(level, spdlog::string_view_t(line.data(), line.size()));
}

// Says what was left out since the line before.
std::string with_suppressed(std::string_view message, std::uint64_t count) {
  std::string text(message);
  if (count > 0) text.append(" (").append(std::to_string(count)).append(" more of these were not shown)");
  return text;
}

}  // namespace

void append_printable(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
}

void set_log_level(LogLevel level) {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                         spdlog::level::err};
  logger().set_level(levels[static_cast<std::size_t>(level)]);
}

void log_debug(std::string_view message) { write(spdlog::level::debug, "DEBUG ", message); }
void log_info(std::string_view message) { write(spdlog::level::info, "INFO ", message); }
void log_warn(std::string_view message) { write(spdlog::level::warn, "WARN ", message); }
void log_error(std::string_view message) { write(spdlog::level::err, "ERROR ", message); }

std::optional<std::uint64_t> LogLimit::admit(router::Time now) {
  const std::int64_t now_ns = std::chrono::nanoseconds(now.time_since_epoch()).count();
  std::int64_t next = next_ns_.load(std::memory_order_relaxed);
  // Of the threads that come at once, the one that moves the time on has the line.
  if (now_ns < next || !next_ns_.compare_exchange_strong(next, now_ns + 1'000'000'000, std::memory_order_relaxed)) {
    suppressed_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  return suppressed_.exchange(0, std::memory_order_relaxed);
}

void log_warn(LogLimit& limit, std::string_view message) {
  if (const auto left_out = limit.admit(router::Clock::now())) log_warn(with_suppressed(message, *left_out));
}

void log_error(LogLimit& limit, std::string_view message) {
  if (const auto left_out = limit.admit(router::Clock::now())) log_error(with_suppressed(message, *left_out));
}

}  // namespace brink::observe
