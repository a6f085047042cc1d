#include "tests/sim/faults.hpp"

#include <array>
#include <charconv>
#include <functional>
#include <stdexcept>

namespace brink::sim {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Cuts the part before the separator off `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return trim(part);
}

[[noreturn]] void fail(std::string_view what, std::string_view text) {
  throw std::invalid_argument(std::string(what) + ": '" + std::string(text) + "'");
}

std::uint32_t parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) fail("not a whole number", text);
  return value;
}

unsigned parse_status(std::string_view text) {
  const std::uint32_t status = parse_number(text);
  if (status < 400 || status > 599) fail("status must be 400 to 599", text);
  return status;
}

struct FaultName {
  std::string_view name;
  bool has_value;
  void (*apply)(FaultSet& faults, std::string_view value);
  std::string_view parameter;  // the one it may have
  void (*apply_parameter)(FaultSet& faults, std::string_view value);
};

constexpr std::array<FaultName, 9> fault_names = {{
    {"latency", true, [](FaultSet& f, std::string_view v) { f.latency = parse_delay(v); }, {}, nullptr},
    {"status", true, [](FaultSet& f, std::string_view v) { f.status = parse_status(v), f.retry_after.reset(); },
     "retry-after", [](FaultSet& f, std::string_view v) { f.retry_after = parse_number(v); }},
    {"reset", false, [](FaultSet& f, std::string_view) { f.reset = true; }, {}, nullptr},
    {"hang", false, [](FaultSet& f, std::string_view) { f.hang = true; }, {}, nullptr},
    {"late-first-token",
     true,
     [](FaultSet& f, std::string_view v) { f.late_first_token = parse_delay(v); },
     {},
     nullptr},
    {"cut", true, [](FaultSet& f, std::string_view v) { f.cut_after = parse_number(v); }, {}, nullptr},
    {"stall", true, [](FaultSet& f, std::string_view v) { f.stall_after = parse_number(v), f.stall_for.reset(); },
     "for", [](FaultSet& f, std::string_view v) { f.stall_for = parse_delay(v); }},
    {"malformed-chunk",
     true,
     [](FaultSet& f, std::string_view v) { f.malformed_after = parse_number(v); },
     {},
     nullptr},
    {"no-done", false, [](FaultSet& f, std::string_view) { f.no_done = true; }, {}, nullptr},
}};

const FaultName& find_fault(std::string_view name) {
  std::string known;
  for (const FaultName& fault : fault_names) {
    if (fault.name == name) return fault;
    known.append(known.empty() ? "" : ", ").append(fault.name);
  }
  fail("no such fault (there are " + known + ")", name);
}

void parse_one(std::string_view text, FaultSet& faults) {
  std::string_view parameters = text;
  std::string_view value = next_part(parameters, ';');
  const bool has_value = value.find('=') != std::string_view::npos;
  const FaultName& fault = find_fault(next_part(value, '='));
  if (has_value != fault.has_value)
    fail(fault.has_value ? "this fault needs a value" : "this fault takes no value", text);
  fault.apply(faults, trim(value));
  while (!parameters.empty()) {
    std::string_view parameter = next_part(parameters, ';');
    const std::string_view name = next_part(parameter, '=');
    if (fault.parameter.empty() || name != fault.parameter)
      fail("no such parameter of " + std::string(fault.name), name);
    fault.apply_parameter(faults, trim(parameter));
  }
}

}  // namespace

void parse_faults(std::string_view text, FaultSet& faults) {
  while (!text.empty()) parse_one(next_part(text, ','), faults);
}

Delay parse_delay(std::string_view text) {
  constexpr Delay longest = std::chrono::hours(24);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::int64_t scale = unit == "ms" ? 1 : unit == "s" ? 1'000 : unit == "m" ? 60'000 : 0;
  if (text.empty() || error != std::errc{} || scale == 0) fail("not a duration such as 500ms, 2s or 1m", text);
  const Delay delay{value * scale};
  if (delay > longest) fail("longer than a day", text);
  return delay;
}

FaultSet FaultBook::draw(std::string_view path, std::string_view header) {
  FaultSet faults;
  for (FaultRule& rule : rules_) {
    if (!path.starts_with(rule.path) || rule.count == 0) continue;
    if (std::uniform_real_distribution<double>(0, 1)(random_) >= rule.probability) continue;
    if (rule.count) --*rule.count;
    parse_faults(rule.text, faults);
  }
  parse_faults(header, faults);
  return faults;
}

}  // namespace brink::sim
