#include "proxy/observe/metrics.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/proxy/observe/exposition_parser.hpp"

namespace brink::observe {
namespace {

using namespace std::chrono_literals;
using http::ErrorKind;
using testing::Exposition;

const Time t0 = Time{} + 1h;

http::Exchange exchange(std::uint32_t route, unsigned status) {
  http::Exchange made;
  made.start = t0;
  made.route_metrics = route;
  made.status = status;
  return made;
}

TEST(Metrics, EveryMetricIsWellFormedFromTheStart) {
  const Metrics metrics;
  const Exposition seen(metrics.text({.version = "1.2"}));
  EXPECT_EQ(seen.value(R"(brink_build_info{version="1.2"})"), 1);
  EXPECT_EQ(seen.value("brink_upstream_retries_total"), 0);
  EXPECT_GT(seen.value("brink_resident_memory_bytes"), 1e6);
  for (const auto& [name, type] : seen.types()) EXPECT_TRUE(name.starts_with("brink_")) << name;
}

TEST(Metrics, AnExchangeCountsByRouteEndpointAndClass) {
  Metrics metrics;
  Shard& shard = metrics.add_shard();
  http::Exchange done = exchange(metrics.route_row("chat"), 200);
  done.endpoint_metrics = metrics.endpoint_row("gpu", "10.0.0.1:8000");
  done.sent = t0 + 10ms;
  done.first_byte = t0 + 40ms;
  done.pipelined = true;
  done.bytes_in = 11;
  done.bytes_out = 222;
  shard.started(done.route_metrics);
  shard.finished(done, t0 + 3s);

  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(brink_requests_total{route="chat",class="2xx"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_requests_total{route="chat",class="5xx"})"), 0);
  EXPECT_EQ(seen.value(R"(brink_requests_in_flight{route="chat"})"), 0);
  EXPECT_EQ(seen.value(R"(brink_request_body_bytes_total{route="chat"})"), 11);
  EXPECT_EQ(seen.value(R"(brink_response_body_bytes_total{route="chat"})"), 222);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="chat",le="2"})"), 0);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="chat",le="5"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_sum{route="chat"})"), 3);
  EXPECT_DOUBLE_EQ(seen.value(R"(brink_time_to_first_byte_seconds_sum{route="chat"})"), 0.04);
  const std::string endpoint = R"({cluster="gpu",endpoint="10.0.0.1:8000")";
  EXPECT_EQ(seen.value("brink_upstream_requests_total" + endpoint + R"(,class="2xx"})"), 1);
  EXPECT_DOUBLE_EQ(seen.value("brink_upstream_time_to_first_byte_seconds_sum" + endpoint + "}"), 0.03);
  EXPECT_EQ(seen.value("brink_pipelined_requests_total"), 1);
  EXPECT_EQ(metrics.route_requests("chat"), 1U);
  EXPECT_EQ(metrics.route_requests("other"), 0U);
}

TEST(Metrics, ABucketHoldsItsUpperBound) {
  Metrics metrics;
  Shard& shard = metrics.add_shard();
  shard.finished(exchange(metrics.route_row("a"), 200), t0 + 5ms);
  shard.finished(exchange(metrics.route_row("a"), 200), t0 + 1h);
  shard.finished(exchange(metrics.route_row("a"), 200), t0 - 1s);  // a clock that was read too early is no wrap-around
  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="a",le="0.001"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="a",le="0.005"})"), 2);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="a",le="600"})"), 2);
  EXPECT_EQ(seen.value(R"(brink_request_duration_seconds_bucket{route="a",le="+Inf"})"), 3);
}

TEST(Metrics, ErrorsAreNamedAndUnroutedRequestsCountToo) {
  Metrics metrics;
  Shard& shard = metrics.add_shard();
  http::Exchange bad = exchange(http::Exchange::no_index, 400);
  bad.fail(ErrorKind::malformed_request, http::Stop::parse);
  shard.finished(bad, t0);
  http::Exchange gone = exchange(metrics.route_row("chat"), 0);
  gone.fail(ErrorKind::first_byte_timeout, http::Stop::dispatch);
  shard.started(gone.route_metrics);
  shard.finished(gone, t0);
  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(brink_errors_total{route="-",error="malformed_request"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_requests_total{route="-",class="4xx"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_requests_in_flight{route="-"})"), 0);
  EXPECT_EQ(seen.value(R"(brink_errors_total{route="chat",error="first_byte_timeout"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_requests_total{route="chat",class="none"})"), 1);
}

TEST(Metrics, WhatTheCacheDidCountsByRouteAndResult) {
  using http::CacheResult;
  Metrics metrics;
  Shard& first = metrics.add_shard();
  Shard& second = metrics.add_shard();
  http::Exchange done = exchange(metrics.route_row("chat"), 200);
  for (const CacheResult result : {CacheResult::hit, CacheResult::hit, CacheResult::miss, CacheResult::bypass}) {
    done.cache = result;
    first.finished(done, t0);
  }
  done.cache = CacheResult::hit;
  second.finished(done, t0);
  second.finished(exchange(metrics.route_row("plain"), 200), t0);  // a route without a cache
  second.add(Counter::redis_hits, 3);
  first.add(Counter::redis_hits);

  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(brink_cache_requests_total{route="chat",result="hit"})"), 3);
  EXPECT_EQ(seen.value(R"(brink_cache_requests_total{route="chat",result="miss"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_cache_requests_total{route="chat",result="bypass"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_cache_requests_total{route="chat",result="stale"})"), 0);
  EXPECT_FALSE(seen.has(R"(brink_cache_requests_total{route="chat",result="none"})"));
  EXPECT_FALSE(seen.has(R"(brink_cache_requests_total{route="plain",result="hit"})"));
  const auto totals = metrics.cache_requests();
  EXPECT_EQ(totals[static_cast<std::size_t>(CacheResult::hit)], 3U);
  EXPECT_EQ(totals[static_cast<std::size_t>(CacheResult::bypass)], 1U);
  EXPECT_EQ(totals[static_cast<std::size_t>(CacheResult::none)], 0U);
  EXPECT_EQ(metrics.total(Counter::redis_hits), 4U);
}

TEST(Metrics, TheTiersTellTheirOwnNumbers) {
  CacheNumbers numbers;
  numbers.memory = {.entries = 1,
                    .bytes = 2,
                    .hits = 3,
                    .misses = 4,
                    .insertions = 5,
                    .evictions = 6,
                    .expired = 7,
                    .purged = 8,
                    .rejected = 9};
  numbers.budget = 10;
  numbers.flights = 11;
  numbers.flights_bytes = 12;
  numbers.purge_records = 13;
  const Exposition seen(Metrics().text({.cache = numbers}));
  EXPECT_EQ(seen.value("brink_cache_memory_entries"), 1);
  EXPECT_EQ(seen.value("brink_cache_memory_bytes"), 2);
  EXPECT_EQ(seen.value("brink_cache_memory_hits_total"), 3);
  EXPECT_EQ(seen.value("brink_cache_memory_misses_total"), 4);
  EXPECT_EQ(seen.value("brink_cache_memory_insertions_total"), 5);
  EXPECT_EQ(seen.value("brink_cache_memory_evictions_total"), 6);
  EXPECT_EQ(seen.value("brink_cache_memory_expired_total"), 7);
  EXPECT_EQ(seen.value("brink_cache_memory_purged_total"), 8);
  EXPECT_EQ(seen.value("brink_cache_memory_rejected_total"), 9);
  EXPECT_EQ(seen.value("brink_cache_memory_budget_bytes"), 10);
  EXPECT_EQ(seen.value("brink_cache_flights"), 11);
  EXPECT_EQ(seen.value("brink_cache_flights_bytes"), 12);
  EXPECT_EQ(seen.value("brink_cache_purge_records"), 13);
}

TEST(Metrics, WhatIsOpenShowsAsGauges) {
  Metrics metrics;
  Shard& shard = metrics.add_shard();
  const auto endpoint = metrics.endpoint_row("gpu", "a:1");
  shard.connection_opened();
  shard.connection_opened();
  shard.connection_closed();
  shard.started(metrics.route_row("chat"));
  shard.upstream_connect(endpoint, true);
  shard.upstream_connect(endpoint, false);
  shard.upstream_reuse(endpoint);
  shard.set(Gauge::buffer_pool_bytes, 4096);
  shard.change(Gauge::tunnels_open, 3);
  shard.change(Gauge::tunnels_open, -1);
  router::EndpointState state("a:1");
  state.healthy = false;
  state.in_flight = 7;
  const ScrapeInput::Endpoint current{"gpu", &state};
  const Exposition seen(metrics.text({.endpoints = {&current, 1}}));
  EXPECT_EQ(seen.value("brink_downstream_connections"), 1);
  EXPECT_EQ(seen.value(R"(brink_requests_in_flight{route="chat"})"), 1);
  EXPECT_EQ(seen.value("brink_buffer_pool_in_use_bytes"), 4096);
  EXPECT_EQ(seen.value("brink_tunnels_open"), 2);
  EXPECT_EQ(seen.value(R"(brink_upstream_connects_total{cluster="gpu",endpoint="a:1"})"), 2);
  EXPECT_EQ(seen.value(R"(brink_upstream_connect_failures_total{cluster="gpu",endpoint="a:1"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_upstream_reuses_total{cluster="gpu",endpoint="a:1"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_upstream_healthy{cluster="gpu",endpoint="a:1"})"), 0);
  EXPECT_EQ(seen.value(R"(brink_upstream_in_flight{cluster="gpu",endpoint="a:1"})"), 7);
}

TEST(Metrics, LabelsAreEscaped) {
  Metrics metrics;
  metrics.route_row("a\"b\\c\nd");
  const Exposition seen(metrics.text({}));
  EXPECT_TRUE(seen.has(R"(brink_requests_in_flight{route="a\"b\\c\nd"})"));
}

TEST(Metrics, ARowIsKeptForItsLabelAndRowsAreBounded) {
  Metrics metrics;
  Shard& shard = metrics.add_shard();
  const auto first = metrics.route_row("r0");
  for (std::uint32_t i = 0; i < 2 * max_rows; ++i) metrics.route_row("r" + std::to_string(i));
  for (std::uint32_t i = 0; i < 2 * max_rows; ++i) metrics.endpoint_row("c", std::to_string(i));
  EXPECT_EQ(metrics.route_row("r0"), first);
  EXPECT_EQ(metrics.route_row("one more"), other_route_row);
  EXPECT_EQ(metrics.endpoint_row("c", "one more"), other_endpoint_row);
  shard.started(metrics.route_row("one more"));
  shard.finished(exchange(metrics.route_row("one more"), 200), t0);
  // So many series take the strict parser seconds.
  EXPECT_NE(metrics.text({}).find("brink_requests_total{route=\"(other)\",class=\"2xx\"} 1\n"), std::string::npos);
}

TEST(Metrics, ReloadsAreCountedByResult) {
  Metrics metrics;
  metrics.reloaded(true);
  metrics.reloaded(false);
  metrics.reloaded(false);
  metrics.set_config_generation(5);
  const Exposition seen(metrics.text({}));
  EXPECT_EQ(seen.value(R"(brink_config_reloads_total{result="ok"})"), 1);
  EXPECT_EQ(seen.value(R"(brink_config_reloads_total{result="failed"})"), 2);
  EXPECT_EQ(seen.value("brink_config_generation"), 5);
  EXPECT_GT(seen.value("brink_config_last_reload_timestamp_seconds"), 1.7e9);
}

// Two workers write while rows are added and scrapes read: nothing is lost and no scrape is malformed.
TEST(Metrics, ScrapesAndNewRowsDoNotDisturbWorkers) {
  constexpr std::uint32_t rows = 300, rounds = 200;
  Metrics metrics;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&metrics, &shard = metrics.add_shard()] {
      for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t row = 0; row < rows; ++row) {
          const auto id = metrics.route_row("r" + std::to_string(row));
          shard.started(id);
          shard.finished(exchange(id, 200), t0);
        }
      }
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_NO_THROW(Exposition(metrics.text({})));
  for (auto& worker : workers) worker.join();
  for (std::uint32_t row = 0; row < rows; ++row) {
    EXPECT_EQ(metrics.route_requests("r" + std::to_string(row)), 2 * rounds) << row;
  }
}

}  // namespace
}  // namespace brink::observe
