#include "proxy/observe/scrape.hpp"

#include <algorithm>
#include <array>

namespace brink::observe {
namespace {

constexpr std::array<std::string_view, status_classes> class_names = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

// A histogram summed over the shards, each bucket counting its own range.
struct HistogramSum {
  std::array<std::uint64_t, bucket_bounds_ms.size() + 1> buckets{};
  std::uint64_t sum_ns = 0;

  void add(const Histogram& histogram) {
    for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += histogram.buckets[i].get();
    sum_ns += histogram.sum_ns.get();
  }
};

void write_histogram(TextWriter& out, TextWriter::Labels labels, const HistogramSum& sum) {
  static const auto bounds = [] {
    std::array<std::string, bucket_bounds_ms.size() + 1> texts;
    std::transform(bucket_bounds_ms.begin(), bucket_bounds_ms.end(), texts.begin(), seconds_text);
    texts.back() = "+Inf";
    return texts;
  }();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    count += sum.buckets[i];
    out.bucket(labels, bounds[i], count);
  }
  out.line(labels, static_cast<double>(sum.sum_ns) / 1e9, "_sum");
  out.line(labels, count, "_count");
}

struct Plain {
  std::string_view metric;
  std::string_view help;
};
#define BRINK_PLAIN(name, metric, help) {metric, help},
constexpr std::array<Plain, counter_count> counters = {{BRINK_COUNTERS(BRINK_PLAIN)}};
constexpr std::array<Plain, gauge_count> gauges = {{BRINK_GAUGES(BRINK_PLAIN)}};
#undef BRINK_PLAIN

}  // namespace

void Scrape::plain() {
  const auto sum = [&](auto which) {
    std::uint64_t total = 0;
    for (const Shard* shard : shards_) total += shard->get(which);
    return total;
  };
  // Closed is read before opened, so that the difference cannot be negative.
  const std::uint64_t closed = sum(Counter::downstream_closed);
  const std::uint64_t opened = sum(Counter::downstream_opened);
  out_.metric("downstream_connections", "gauge", "Client connections open now.");
  out_.line({}, opened - std::min(closed, opened));
  for (std::size_t i = 0; i < counters.size(); ++i) {
    out_.metric(counters[i].metric, "counter", counters[i].help);
    out_.line({}, sum(static_cast<Counter>(i)));
  }
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    out_.metric(gauges[i].metric, "gauge", gauges[i].help);
    out_.line({}, sum(static_cast<Gauge>(i)));
  }
}

void Scrape::retries() {
  out_.metric("upstream_retry_reasons_total", "counter",
              "Attempts after the first one of a request, by why they were made.");
  for (std::size_t reason = 0; reason < retry_reasons.size(); ++reason) {
    std::uint64_t total = 0;
    for (const Shard* shard : shards_) total += shard->retries(reason);
    out_.line({{"reason", retry_reasons[reason]}}, total);
  }
}

void Scrape::route_histogram(const std::vector<std::string>& names, const Histogram RouteRow::*histogram) {
  for (std::size_t row = 0; row < names.size(); ++row) {
    HistogramSum sum;
    for (const Shard* shard : shards_) {
      if (const RouteRow* found = shard->route(static_cast<std::uint32_t>(row))) sum.add(found->*histogram);
    }
    write_histogram(out_, {{"route", names[row]}}, sum);
  }
}

void Scrape::routes(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> finished(names.size());
  out_.metric("requests_total", "counter", "Requests finished, by what the client got; none: nothing was sent.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    for (std::size_t digit = 0; digit < status_classes; ++digit) {
      const auto count = route_sum(row, [&](const RouteRow& found) { return found.finished[digit].get(); });
      finished[row] += count;
      out_.line({{"route", names[row]}, {"class", class_names[digit]}}, count);
    }
  }
  out_.metric("requests_in_flight", "gauge", "Requests begun and not finished; tunnels count.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto started = route_sum(row, [](const RouteRow& found) { return found.started.get(); });
    out_.line({{"route", names[row]}}, started - std::min(finished[row], started));
  }
  out_.metric("errors_total", "counter", "Requests that failed, by cause; absent while 0.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    for (std::size_t kind = 0; kind < error_kinds; ++kind) {
      const auto count = route_sum(row, [&](const RouteRow& found) { return found.errors[kind].get(); });
      const auto name = http::info(static_cast<http::ErrorKind>(kind)).code;
      if (count > 0) out_.line({{"route", names[row]}, {"error", name}}, count);
    }
  }
  const auto bytes = [&](std::string_view metric, std::string_view help, auto pick) {
    out_.metric(metric, "counter", help);
    for (std::size_t row = 0; row < names.size(); ++row) out_.line({{"route", names[row]}}, route_sum(row, pick));
  };
  bytes("request_body_bytes_total", "Bytes of request bodies and from the clients of tunnels.",
        [](const RouteRow& found) { return found.bytes_in.get(); });
  bytes("response_body_bytes_total", "Bytes of response bodies and to the clients of tunnels.",
        [](const RouteRow& found) { return found.bytes_out.get(); });
  out_.metric("request_duration_seconds", "histogram", "From a request's first byte to its end; tunnels do not count.");
  route_histogram(names, &RouteRow::duration);
  out_.metric("time_to_first_byte_seconds", "histogram", "From a request's first byte to the backend's response head.");
  route_histogram(names, &RouteRow::first_byte);
}

void Scrape::cache_requests(const std::vector<std::string>& names) {
  out_.metric("cache_requests_total", "counter",
              "Requests finished by what the cache did for them; a route's lines appear with its first one.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::array<std::uint64_t, cache_results> counts{};
    for (std::size_t result = 0; result < cache_results; ++result) {
      counts[result] = route_sum(row, [&](const RouteRow& found) { return found.cache[result].get(); });
    }
    if (counts == decltype(counts){}) continue;
    for (std::size_t result = 1; result < cache_results; ++result) {
      const auto word = http::to_string(static_cast<http::CacheResult>(result));
      out_.line({{"route", names[row]}, {"result", word}}, counts[result]);
    }
  }
}

void Scrape::cache(const CacheNumbers& numbers) {
  const auto one = [&](std::string_view metric, std::string_view type, std::string_view help, std::uint64_t value) {
    out_.metric(metric, type, help);
    out_.line({}, value);
  };
  const cache::MemoryStats& memory = numbers.memory;
  one("cache_memory_entries", "gauge", "Responses in the memory tier, lists of variants included.", memory.entries);
  one("cache_memory_bytes", "gauge", "Bytes they take, bookkeeping included.", memory.bytes);
  one("cache_memory_budget_bytes", "gauge", "Bytes they may take; 0: the tier is off.", numbers.budget);
  one("cache_memory_hits_total", "counter", "Look-ups that found an entry, fresh or not.", memory.hits);
  one("cache_memory_misses_total", "counter", "Look-ups that found none.", memory.misses);
  one("cache_memory_insertions_total", "counter", "Entries stored.", memory.insertions);
  one("cache_memory_evictions_total", "counter", "Entries dropped for want of room.", memory.evictions);
  one("cache_memory_expired_total", "counter", "Entries dropped because their use had ended.", memory.expired);
  one("cache_memory_purged_total", "counter", "Entries purged, hard or soft.", memory.purged);
  one("cache_memory_rejected_total", "counter", "Entries not stored because they were too large.", memory.rejected);
  one("cache_flights", "gauge", "Backend calls under way that identical requests may follow.", numbers.flights);
  one("cache_flights_bytes", "gauge", "Bytes of their answers, kept for storing.", numbers.flights_bytes);
  one("cache_purge_records", "gauge", "Purges remembered for entries that arrive later.", numbers.purge_records);
}

void Scrape::endpoints(const std::vector<EndpointLabels>& names) {
  const auto counter = [&](std::string_view metric, std::string_view help, auto pick) {
    out_.metric(metric, "counter", help);
    for (std::size_t row = 0; row < names.size(); ++row) {
      out_.line({{"cluster", names[row].first}, {"endpoint", names[row].second}}, endpoint_sum(row, pick));
    }
  };
  out_.metric("upstream_requests_total", "counter",
              "Requests whose last attempt went to this endpoint, by what the client got.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    for (std::size_t digit = 0; digit < status_classes; ++digit) {
      const auto count = endpoint_sum(row, [&](const EndpointRow& found) { return found.finished[digit].get(); });
      out_.line({{"cluster", names[row].first}, {"endpoint", names[row].second}, {"class", class_names[digit]}}, count);
    }
  }
  counter("upstream_connects_total", "Connections tried.", [](const EndpointRow& row) { return row.connects.get(); });
  counter("upstream_connect_failures_total", "Of these, those that failed or took too long.",
          [](const EndpointRow& row) { return row.connect_failures.get(); });
  counter("upstream_reuses_total", "Attempts that went over a kept connection.",
          [](const EndpointRow& row) { return row.reuses.get(); });
  out_.metric("upstream_time_to_first_byte_seconds", "histogram", "From the request wholly sent to the response head.");
  for (std::size_t row = 0; row < names.size(); ++row) {
    HistogramSum sum;
    for (const Shard* shard : shards_) {
      if (const EndpointRow* found = shard->endpoint(static_cast<std::uint32_t>(row))) sum.add(found->first_byte);
    }
    write_histogram(out_, {{"cluster", names[row].first}, {"endpoint", names[row].second}}, sum);
  }
}

void Scrape::states(std::span<const ScrapeInput::Endpoint> endpoints) {
  const auto gauge = [&](std::string_view metric, std::string_view help, auto value) {
    out_.metric(metric, "gauge", help);
    for (const auto& endpoint : endpoints) {
      out_.line({{"cluster", endpoint.cluster}, {"endpoint", endpoint.state->name}},
                std::uint64_t{value(*endpoint.state)});
    }
  };
  gauge("upstream_healthy", "1: the active health check passes, or there is none.",
        [](const router::EndpointState& state) { return state.healthy.load() ? 1U : 0U; });
  gauge("upstream_ejected", "1: left out because of its answers, or on trial after that.",
        [](const router::EndpointState& state) { return state.ejection.in_service() ? 0U : 1U; });
  gauge("upstream_paused", "1: asked to be left alone (Retry-After).", [](const router::EndpointState& state) {
    return state.ejection.paused(router::Clock::now()).count() > 0 ? 1U : 0U;
  });
  out_.metric("upstream_ejections_total", "counter", "Times the endpoint was left out because of its answers.");
  for (const auto& endpoint : endpoints) {
    out_.line({{"cluster", endpoint.cluster}, {"endpoint", endpoint.state->name}},
              endpoint.state->ejection.ejections());
  }
  gauge("upstream_in_flight", "Requests at this endpoint now; tunnels count.",
        [](const router::EndpointState& state) { return state.in_flight.load(); });
  gauge("upstream_waiting", "Of these, those without a first byte.",
        [](const router::EndpointState& state) { return state.waiting.load(); });
}

}  // namespace brink::observe
