#include "proxy/observe/shard.hpp"

#include <algorithm>
#include <chrono>

namespace brink::observe {
namespace {

constexpr auto bounds_ns = [] {
  std::array<std::int64_t, bucket_bounds_ms.size()> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::int64_t{bucket_bounds_ms[i]} * 1'000'000;
  return bounds;
}();

std::size_t status_class(unsigned status) {
  const std::size_t digit = status / 100;
  return digit < status_classes ? digit : 0;
}

}  // namespace

void Histogram::record(Time::duration value) {
  const std::int64_t ns = std::max<std::int64_t>(0, std::chrono::nanoseconds(value).count());
  const auto bucket = std::lower_bound(bounds_ns.begin(), bounds_ns.end(), ns) - bounds_ns.begin();
  buckets[static_cast<std::size_t>(bucket)].add(1);
  sum_ns.add(static_cast<std::uint64_t>(ns));
}

void Shard::started(std::uint32_t route_row) { routes_.at(route_row).started.add(1); }

void Shard::finished(const http::Exchange& exchange, Time now) {
  const bool routed = exchange.route_metrics != http::Exchange::no_index;
  RouteRow& route = routes_.at(routed ? exchange.route_metrics : no_route_row);
  if (!routed) route.started.add(1);  // nobody else says so
  const std::size_t digit = status_class(exchange.status);
  route.finished[digit].add(1);
  if (exchange.error != http::ErrorKind::none) route.errors[static_cast<std::size_t>(exchange.error)].add(1);
  if (exchange.cache != http::CacheResult::none) route.cache[static_cast<std::size_t>(exchange.cache)].add(1);
  if (exchange.pipelined) add(Counter::pipelined);
  if (!exchange.tunnel) route.duration.record(now - exchange.start);
  const bool answered = exchange.first_byte != Time{};
  if (answered) route.first_byte.record(exchange.first_byte - exchange.start);
  route.bytes_in.add(exchange.bytes_in);
  route.bytes_out.add(exchange.bytes_out);

  if (exchange.endpoint_metrics == http::Exchange::no_index) return;
  EndpointRow& endpoint = endpoints_.at(exchange.endpoint_metrics);
  endpoint.finished[digit].add(1);
  // A backend may answer before it has the whole request: it was not waited for, which is 0.
  if (answered)
    endpoint.first_byte.record(exchange.sent == Time{} ? Time::duration{} : exchange.first_byte - exchange.sent);
}

void Shard::upstream_connect(std::uint32_t endpoint_row, bool ok) {
  EndpointRow& row = endpoints_.at(endpoint_row);
  row.connects.add(1);
  if (!ok) row.connect_failures.add(1);
}

void Shard::upstream_reuse(std::uint32_t endpoint_row) { endpoints_.at(endpoint_row).reuses.add(1); }

}  // namespace brink::observe
