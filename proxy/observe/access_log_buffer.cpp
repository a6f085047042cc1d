#include <algorithm>
#include <cstring>

#include "proxy/observe/access_line.hpp"
#include "proxy/observe/access_log.hpp"

namespace brink::observe {
namespace {

constexpr std::size_t block_bytes = AccessLogBuffer::flush_bytes + 16 * 1024;  // room for the line that fills it

// `width` decimal digits of `value` at `out`.
void put_digits(char* out, int width, std::int64_t value) {
  for (int i = width - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

}  // namespace

AccessLogBuffer::AccessLogBuffer(AccessLog& log) : log_(log) {
  std::memcpy(date_.data(), "0000-00-00T00:00:00.000Z", date_.size());
  set_wall_clock();
}

AccessLogBuffer::~AccessLogBuffer() { flush(); }

void AccessLogBuffer::write(const http::Exchange& exchange, Time now) {
  if (!log_.enabled()) return;
  const std::size_t bound = access_line_bound(exchange);
  if (block_.capacity - block_.size < bound) {
    log_.submit(block_);
    if (block_.capacity < bound) {
      block_.capacity = std::max(bound, block_bytes);
      block_.data = std::make_unique_for_overwrite<char[]>(block_.capacity);
    }
  }
  char* const begin = block_.data.get() + block_.size;
  const char* const end = write_access_line(begin, exchange, date(now), now, scratch_);
  block_.size += static_cast<std::size_t>(end - begin);
  ++block_.lines;
  if (block_.size >= flush_bytes) log_.submit(block_);
}

void AccessLogBuffer::flush() {
  set_wall_clock();
  log_.submit(block_);
}

void AccessLogBuffer::set_wall_clock() {
  wall_offset_ =
      std::chrono::system_clock::now().time_since_epoch() -
      std::chrono::duration_cast<std::chrono::system_clock::duration>(router::Clock::now().time_since_epoch());
}

// The wall clock's reading of `now`. Only what changed since the line before is written anew.
std::string_view AccessLogBuffer::date(Time now) {
  using namespace std::chrono;
  const auto wall = duration_cast<system_clock::duration>(now.time_since_epoch()) + wall_offset_;
  const std::int64_t ms = duration_cast<milliseconds>(wall).count();
  if (ms != dated_ms_) {
    char* const out = date_.data();
    put_digits(out + 20, 3, ms % 1000);
    if (ms / 1000 != dated_ms_ / 1000) {
      const sys_seconds second{seconds{ms / 1000}};
      const auto day = floor<days>(second);
      const year_month_day calendar{day};
      const hh_mm_ss clock{second - day};
      put_digits(out, 4, int{calendar.year()});
      put_digits(out + 5, 2, unsigned{calendar.month()});
      put_digits(out + 8, 2, unsigned{calendar.day()});
      put_digits(out + 11, 2, clock.hours().count());
      put_digits(out + 14, 2, clock.minutes().count());
      put_digits(out + 17, 2, clock.seconds().count());
    }
    dated_ms_ = ms;
  }
  return {date_.data(), date_.size()};
}

}  // namespace brink::observe
