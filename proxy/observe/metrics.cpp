#include "proxy/observe/metrics.hpp"

#include <unistd.h>

#include <fstream>

#include "proxy/observe/exposition.hpp"
#include "proxy/observe/scrape.hpp"

namespace brink::observe {
namespace {

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;  // in pages, proc(5)
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Metrics::Metrics() {
  routes_ = {"-", "(other)"};
  endpoints_ = {{"(other)", "(other)"}};
}

Shard& Metrics::add_shard() {
  const std::lock_guard lock(mutex_);
  return *shards_.emplace_back(std::make_unique<Shard>());
}

std::uint32_t Metrics::route_row(std::string_view route) {
  const std::lock_guard lock(mutex_);
  if (const auto known = route_rows_.find(route); known != route_rows_.end()) return known->second;
  if (routes_.size() == max_rows) return other_route_row;
  const auto row = static_cast<std::uint32_t>(routes_.size());
  routes_.emplace_back(route);
  route_rows_.emplace(route, row);
  return row;
}

std::uint32_t Metrics::endpoint_row(std::string_view cluster, std::string_view endpoint) {
  const std::lock_guard lock(mutex_);
  EndpointLabels labels{cluster, endpoint};
  if (const auto known = endpoint_rows_.find(labels); known != endpoint_rows_.end()) return known->second;
  if (endpoints_.size() == max_rows) return other_endpoint_row;
  const auto row = static_cast<std::uint32_t>(endpoints_.size());
  endpoints_.push_back(labels);
  endpoint_rows_.emplace(std::move(labels), row);
  return row;
}

void Metrics::reloaded(bool ok) {
  (ok ? reloads_ok_ : reloads_failed_).fetch_add(1, std::memory_order_relaxed);
  if (!ok) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  last_reload_ms_.store(std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), std::memory_order_relaxed);
}

void Metrics::set_config_generation(std::uint64_t generation) {
  generation_.store(generation, std::memory_order_relaxed);
}

std::string Metrics::text(const ScrapeInput& input) const {
  std::vector<const Shard*> shards;
  std::vector<std::string> routes;
  std::vector<EndpointLabels> endpoints;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& shard : shards_) shards.push_back(shard.get());
    routes = routes_;
    endpoints = endpoints_;
  }
  TextWriter out;
  process_lines(out, input);
  Scrape scrape(out, std::move(shards));
  scrape.plain();
  scrape.retries();
  scrape.routes(routes);
  scrape.cache_requests(routes);
  scrape.cache(input.cache);
  scrape.endpoints(endpoints);
  scrape.states(input.endpoints);
  return out.take();
}

void Metrics::process_lines(TextWriter& out, const ScrapeInput& input) const {
  const auto seconds = [](std::int64_t ms) { return static_cast<double>(ms) / 1e3; };
  out.metric("build_info", "gauge", "1, with the version as a label.");
  out.line({{"version", input.version}}, std::uint64_t{1});
  out.metric("start_time_seconds", "gauge", "When the process started, seconds since 1970.");
  const auto started = std::chrono::duration_cast<std::chrono::milliseconds>(started_.time_since_epoch());
  out.line({}, seconds(started.count()));
  out.metric("resident_memory_bytes", "gauge", "Memory of the process that is in RAM.");
  out.line({}, resident_bytes());
  out.metric("ready", "gauge", "1: /readyz says that the process takes traffic.");
  out.line({}, std::uint64_t{input.ready});
  out.metric("config_reloads_total", "counter", "Tries to load a configuration, the first one included.");
  out.line({{"result", "ok"}}, reloads_ok_.load(std::memory_order_relaxed));
  out.line({{"result", "failed"}}, reloads_failed_.load(std::memory_order_relaxed));
  out.metric("config_generation", "gauge", "Number of the configuration in use, grows with each one.");
  out.line({}, generation_.load(std::memory_order_relaxed));
  out.metric("config_last_reload_timestamp_seconds", "gauge",
             "When the configuration in use was loaded, seconds since 1970.");
  out.line({}, seconds(last_reload_ms_.load(std::memory_order_relaxed)));
  out.metric("access_log_dropped_lines_total", "counter",
             "Lines never written: the log's target was too slow or failed.");
  out.line({}, input.access_log_dropped);
}

std::uint64_t Metrics::route_requests(std::string_view route) const {
  const std::lock_guard lock(mutex_);
  const auto known = route_rows_.find(route);
  if (known == route_rows_.end()) return 0;
  std::uint64_t total = 0;
  for (const auto& shard : shards_) {
    const RouteRow* row = shard->route(known->second);
    if (row == nullptr) continue;
    for (const Cell& count : row->finished) total += count.get();
  }
  return total;
}

std::array<std::uint64_t, cache_results> Metrics::cache_requests() const {
  const std::lock_guard lock(mutex_);
  std::array<std::uint64_t, cache_results> totals{};
  for (const auto& shard : shards_) {
    for (std::uint32_t row_index = 0; row_index < routes_.size(); ++row_index) {
      const RouteRow* row = shard->route(row_index);
      if (row == nullptr) continue;
      for (std::size_t result = 0; result < cache_results; ++result) totals[result] += row->cache[result].get();
    }
  }
  return totals;
}

std::uint64_t Metrics::total(Counter counter) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& shard : shards_) sum += shard->get(counter);
  return sum;
}

}  // namespace brink::observe
