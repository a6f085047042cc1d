#include "tests/sim/fleet/trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace brink::fleet {
namespace {

template <class ParseLine>
Trace read(const std::filesystem::path& file, ParseLine&& parse_line) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + ": cannot be opened");
  Trace trace;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    try {
      parse_line(number, line, trace);
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (trace.requests.empty()) throw std::runtime_error(file.string() + ": holds no request");
  // Only now: growing the list moves the inner vectors' headers, but the spans must not be taken before it is whole.
  for (std::size_t i = 0; i < trace.blocks.size(); ++i) trace.requests[i].blocks = trace.blocks[i];
  return trace;
}

void add(Trace& trace, Time arrival, double prompt, double output) {
  Request request;
  request.arrival = arrival;
  request.id = static_cast<std::uint32_t>(trace.requests.size());
  request.prompt_tokens = static_cast<std::uint32_t>(std::max(1.0, prompt));
  request.output_tokens = static_cast<std::uint32_t>(std::max(1.0, output));
  trace.requests.push_back(request);
}

double draw_exponential(std::mt19937_64& random, double mean) {
  return std::exponential_distribution<double>(1 / mean)(random);
}

}  // namespace

Trace read_azure(const std::filesystem::path& file) {
  double first_day = -1;
  return read(file, [&](std::size_t number, const std::string& line, Trace& trace) {
    if (number == 1 && line.starts_with("TIMESTAMP")) return;
    int year = 0, month = 0, day = 0, hour = 0, minute = 0;
    unsigned prompt = 0, output = 0;
    double second = 0;
    if (std::sscanf(line.c_str(), "%d-%d-%d %d:%d:%lf,%u,%u", &year, &month, &day, &hour, &minute, &second, &prompt,
                    &output) != 8)
      throw std::runtime_error("is not TIMESTAMP,ContextTokens,GeneratedTokens");
    if (first_day < 0) first_day = day;  // the trace lies within one month
    add(trace, ((((day - first_day) * 24 + hour) * 60 + minute) * 60 + second) * 1000, prompt, output);
  });
}

Trace read_mooncake(const std::filesystem::path& file) {
  return read(file, [](std::size_t, const std::string& line, Trace& trace) {
    const auto json = nlohmann::json::parse(line);
    add(trace, json.at("timestamp"), json.at("input_length"), json.at("output_length"));
    trace.blocks.push_back(json.at("hash_ids").get<std::vector<std::uint32_t>>());
  });
}

void rescale(Trace& trace, double per_second) {
  const Time start = trace.requests.front().arrival;
  const double span = trace.requests.back().arrival - start;
  const double factor = span > 0 ? static_cast<double>(trace.requests.size()) * 1000 / per_second / span : 0;
  for (Request& request : trace.requests) request.arrival = (request.arrival - start) * factor;
}

Trace poisson(const Trace& like, double per_second, double seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  for (Time at = draw_exponential(random, 1000 / per_second); at < seconds * 1000;
       at += draw_exponential(random, 1000 / per_second)) {
    const Request& drawn = like.requests[random() % like.requests.size()];
    add(trace, at, drawn.prompt_tokens, drawn.output_tokens);
  }
  return trace;
}

Trace synthetic(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> prompt(std::log(750.0), 0.92), output(std::log(150.0), 0.82);
  Trace trace;
  for (std::size_t i = 0; i < count; ++i) add(trace, static_cast<double>(i), prompt(random), output(random));
  return trace;
}

}  // namespace brink::fleet
