#include "tests/sim/metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace brink::sim {
namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.9g", value);
  return {text.data(), static_cast<std::size_t>(size)};
}

void line(std::string& out, std::string_view name, std::string_view labels, double value) {
  out.append(name).append("{").append(labels).append("} ").append(number(value)).append("\n");
}

void head(std::string& out, std::string_view name, std::string_view type) {
  out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void metric(std::string& out, std::string_view name, std::string_view type, std::string_view labels, double value) {
  head(out, name, type);
  line(out, name, labels, value);
}

// Label values escape backslash, quote and line feed (Prometheus text format 0.0.4).
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text.append(c == '\n' ? "\\n" : std::string_view(&c, 1));
  }
  return text;
}

}  // namespace

void Histogram::observe(double seconds) {
  ++counts_[static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin())];
  sum_ += seconds;
}

void Histogram::render(std::string& out, std::string_view name, std::string_view labels) const {
  head(out, name, "histogram");
  const std::string base(name);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < bounds.size() ? number(bounds[i]) : "+Inf";
    line(out, base + "_bucket", std::string(labels) + ",le=\"" + bound + "\"", static_cast<double>(total));
  }
  line(out, base + "_sum", labels, sum_);
  line(out, base + "_count", labels, static_cast<double>(total));
}

std::string metrics_text(const Engine& engine, const Counters& counters, std::string_view model) {
  const std::string labels = R"(engine="0",model_name=")" + escaped(model) + "\"";
  const EngineTotals& totals = engine.totals();
  const auto as_double = [](std::uint64_t value) { return static_cast<double>(value); };
  std::string out;
  metric(out, "vllm:num_requests_running", "gauge", labels, engine.running());
  metric(out, "vllm:num_requests_waiting", "gauge", labels, engine.waiting());
  metric(out, "vllm:kv_cache_usage_perc", "gauge", labels, engine.kv_usage());
  metric(out, "vllm:gpu_cache_usage_perc", "gauge", labels, engine.kv_usage());
  const std::string cache_labels =
      R"(block_size="16",engine="0",num_gpu_blocks=")" + std::to_string(engine.config().kv_blocks) + "\"";
  metric(out, "vllm:cache_config_info", "gauge", cache_labels, 1);
  metric(out, "vllm:prefix_cache_queries_total", "counter", labels, as_double(totals.prefix_queries));
  metric(out, "vllm:prefix_cache_hits_total", "counter", labels, as_double(totals.prefix_hits));
  metric(out, "vllm:prompt_tokens_total", "counter", labels, as_double(totals.prompt_tokens));
  metric(out, "vllm:generation_tokens_total", "counter", labels, as_double(totals.generation_tokens));
  head(out, "vllm:request_success_total", "counter");
  const auto success = [&](std::string_view reason, std::uint64_t value) {
    line(out, "vllm:request_success_total", labels + ",finished_reason=\"" + std::string(reason) + "\"",
         as_double(value));
  };
  success("stop", counters.finished - counters.finished_length);
  success("length", counters.finished_length);
  success("abort", counters.aborted);
  counters.time_to_first_token.render(out, "vllm:time_to_first_token_seconds", labels);
  counters.time_per_output_token.render(out, "vllm:inter_token_latency_seconds", labels);
  counters.queue_time.render(out, "vllm:request_queue_time_seconds", labels);
  counters.request_time.render(out, "vllm:e2e_request_latency_seconds", labels);
  return out;
}

}  // namespace brink::sim
