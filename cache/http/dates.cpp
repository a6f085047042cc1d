#include "cache/http/dates.hpp"

#include <array>
#include <cstdio>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

namespace {

constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> long_days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

// Reads a date from its start; a step that does not fit makes all of it invalid.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool done() const { return valid_ && left_.empty(); }

  void expect(std::string_view text) {
    valid_ = valid_ && same_text(left_.substr(0, text.size()), text);
    if (valid_) left_.remove_prefix(text.size());
  }

  template <std::size_t count>
  unsigned name(const std::array<std::string_view, count>& names) {
    for (unsigned at = 0; valid_ && at < count; ++at) {
      if (!same_text(left_.substr(0, names[at].size()), names[at])) continue;
      left_.remove_prefix(names[at].size());
      return at;
    }
    valid_ = false;
    return 0;
  }

  // Exactly that many digits; `padded`: the first may be a space.
  int number(std::size_t digits, bool padded = false) {
    valid_ = valid_ && left_.size() >= digits;
    int value = 0;
    for (std::size_t at = 0; valid_ && at < digits; ++at) {
      const char c = left_[at];
      if (padded && at == 0 && c == ' ') continue;
      valid_ = c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    if (valid_) left_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view left_;
  bool valid_ = true;
};

struct Parts {
  int year = 0, day = 0, hour = 0, minute = 0, second = 0;
  unsigned month = 0;  // from 0
};

void read_time(Reader& reader, Parts& parts) {
  parts.hour = reader.number(2);
  reader.expect(":");
  parts.minute = reader.number(2);
  reader.expect(":");
  parts.second = reader.number(2);
}

// Sun, 06 Nov 1994 08:49:37 GMT
bool read_fixdate(std::string_view text, Parts& parts) {
  Reader reader(text);
  reader.name(days);
  reader.expect(", ");
  parts.day = reader.number(2);
  reader.expect(" ");
  parts.month = reader.name(months);
  reader.expect(" ");
  parts.year = reader.number(4);
  reader.expect(" ");
  read_time(reader, parts);
  reader.expect(" GMT");
  return reader.done();
}

// Sunday, 06-Nov-94 08:49:37 GMT
bool read_rfc850(std::string_view text, int this_year, Parts& parts) {
  Reader reader(text);
  reader.name(long_days);
  reader.expect(", ");
  parts.day = reader.number(2);
  reader.expect("-");
  parts.month = reader.name(months);
  reader.expect("-");
  parts.year = this_year - this_year % 100 + reader.number(2);
  if (parts.year > this_year + 50) parts.year -= 100;
  reader.expect(" ");
  read_time(reader, parts);
  reader.expect(" GMT");
  return reader.done();
}

// Sun Nov  6 08:49:37 1994
bool read_asctime(std::string_view text, Parts& parts) {
  Reader reader(text);
  reader.name(days);
  reader.expect(" ");
  parts.month = reader.name(months);
  reader.expect(" ");
  parts.day = reader.number(2, true);
  reader.expect(" ");
  read_time(reader, parts);
  reader.expect(" ");
  parts.year = reader.number(4);
  return reader.done();
}

}  // namespace

std::optional<DateTime> parse_date(std::string_view text, WallTime now) {
  text = trim(text);
  const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(now)};
  Parts parts;
  if (!read_fixdate(text, parts) && !read_rfc850(text, static_cast<int>(today.year()), parts) &&
      !read_asctime(text, parts)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(parts.year), std::chrono::month(parts.month + 1),
                                         std::chrono::day(static_cast<unsigned>(parts.day))};
  if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(parts.hour) + std::chrono::minutes(parts.minute) +
         std::chrono::seconds(parts.second);
}

std::string format_date(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                                 days[std::chrono::weekday(day).c_encoding()].data(), static_cast<unsigned>(date.day()),
                                 months[static_cast<unsigned>(date.month()) - 1].data(), static_cast<int>(date.year()),
                                 static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                                 static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace brink::cache::http
