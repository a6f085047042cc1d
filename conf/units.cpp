#include "conf/units.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace brink::conf {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// Largest first: the formatter takes the first that divides.
constexpr std::array<Unit, 4> durations{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 4> sizes{{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

std::optional<std::int64_t> parse_with(std::string_view text, std::span<const Unit> units) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_integer(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(digits) != unit.name) continue;
    if (*number > std::numeric_limits<std::int64_t>::max() / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

std::string format_with(std::int64_t value, std::span<const Unit> units, std::string_view zero) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) return std::to_string(value / unit.factor) + std::string(unit.name);
  }
  return value == 0 ? "0" + std::string(zero) : std::to_string(value) + std::string(units.back().name);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_duration(std::string_view text) { return parse_with(text, durations); }

std::optional<std::int64_t> parse_size(std::string_view text) {
  if (const auto plain = parse_integer(text)) return plain;
  return parse_with(text, sizes);
}

std::optional<double> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = parse_integer(text.substr(0, slash));
  const std::string_view period = text.substr(slash + 1);
  if (!number || (period != "s" && period != "m")) return std::nullopt;
  return static_cast<double>(*number) / (period == "m" ? 60.0 : 1.0);
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t point = text.find('.');
  const auto whole = parse_integer(text.substr(0, point));
  if (!whole || *whole > 1'000'000) return std::nullopt;
  double percent = static_cast<double>(*whole);
  if (point != std::string_view::npos) {
    const std::string_view digits = text.substr(point + 1);
    const auto decimals = digits.size() <= 2 ? parse_integer(digits) : std::nullopt;
    if (!decimals) return std::nullopt;
    percent += static_cast<double>(*decimals) / (digits.size() == 1 ? 10 : 100);
  }
  return percent / 100;
}

std::string format_duration(std::int64_t milliseconds) { return format_with(milliseconds, durations, "s"); }
std::string format_size(std::int64_t bytes) { return format_with(bytes, sizes, "B"); }

}  // namespace brink::conf
