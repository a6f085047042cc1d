// Writes the metrics that have labels: sums each row over the shards while their workers go on. Used by Metrics::text;
// one object for each scrape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/observe/exposition.hpp"
#include "proxy/observe/metrics.hpp"

namespace brink::observe {

class Scrape {
 public:
  Scrape(TextWriter& out, std::vector<const Shard*> shards) : out_(out), shards_(std::move(shards)) {}

  void plain();
  void retries();                                      // one number a worker: metric_names.hpp
  void routes(const std::vector<std::string>& names);  // row i has names[i]
  void cache_requests(const std::vector<std::string>& names);
  void cache(const CacheNumbers& numbers);
  void endpoints(const std::vector<EndpointLabels>& names);
  void states(std::span<const ScrapeInput::Endpoint> endpoints);

 private:
  void route_histogram(const std::vector<std::string>& names, const Histogram RouteRow::*histogram);

  // The sum over the shards of the cell that `pick` chooses in a row; a row that a shard never wrote counts 0.
  template <class Pick>
  std::uint64_t route_sum(std::size_t row, Pick pick) const {
    std::uint64_t sum = 0;
    for (const Shard* shard : shards_) {
      if (const RouteRow* found = shard->route(static_cast<std::uint32_t>(row))) sum += pick(*found);
    }
    return sum;
  }
  template <class Pick>
  std::uint64_t endpoint_sum(std::size_t row, Pick pick) const {
    std::uint64_t sum = 0;
    for (const Shard* shard : shards_) {
      if (const EndpointRow* found = shard->endpoint(static_cast<std::uint32_t>(row))) sum += pick(*found);
    }
    return sum;
  }

  TextWriter& out_;
  std::vector<const Shard*> shards_;
};

}  // namespace brink::observe
