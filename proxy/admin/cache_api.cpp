#include "proxy/admin/cache_api.hpp"

#include <array>

#include "conf/secrets.hpp"
#include "proxy/admin/purge_request.hpp"
#include "proxy/admin/replies.hpp"

namespace brink::admin {
namespace {

using http::CacheResult;
using observe::Counter;

Json memory_json(const observe::CacheNumbers& numbers) {
  const cache::MemoryStats& memory = numbers.memory;
  return {{"entries", memory.entries},     {"bytes", memory.bytes},     {"budget", numbers.budget},
          {"hits", memory.hits},           {"misses", memory.misses},   {"insertions", memory.insertions},
          {"evictions", memory.evictions}, {"expired", memory.expired}, {"purged", memory.purged},
          {"rejected", memory.rejected}};
}

// Of the requests that the cache could answer: how many it did, without a backend making the whole answer for them.
Json hit_ratio(const CacheView& view) {
  const auto count = [&](CacheResult result) { return view.requests[static_cast<std::size_t>(result)]; };
  const std::uint64_t answered = count(CacheResult::hit) + count(CacheResult::stale) + count(CacheResult::revalidated) +
                                 count(CacheResult::collapsed);
  const std::uint64_t all = answered + count(CacheResult::miss);
  if (all == 0) return nullptr;
  return static_cast<double>(answered) / static_cast<double>(all);
}

std::string_view name_of(conf::RedisConfig::Mode mode) {
  switch (mode) {
    case conf::RedisConfig::Mode::single:
      return "single";
    case conf::RedisConfig::Mode::cluster:
      return "cluster";
    case conf::RedisConfig::Mode::sentinel:
      return "sentinel";
  }
  return "";
}

Json redis_json(const conf::RedisConfig& config, const CacheView& view) {
  return {{"mode", name_of(config.mode)},
          {"url", conf::hide_password(config.url)},
          {"prefix", config.prefix},
          {"in_use", view.purges_known},
          {"hits", view.redis_hits},
          {"misses", view.redis_misses},
          {"errors", view.redis_errors},
          {"timeouts", view.redis_timeouts},
          {"unreadable", view.redis_unreadable}};
}

}  // namespace

http::LocalReply show_cache(const Sources& sources) {
  const auto config = sources.config();
  const CacheView view = sources.cache();
  Json requests = Json::object();
  for (std::size_t result = 1; result < view.requests.size(); ++result) {
    requests[std::string(http::to_string(static_cast<CacheResult>(result)))] = view.requests[result];
  }
  const auto& redis = config->cache.redis;
  return json_reply(200, {{"requests", std::move(requests)},
                          {"hit_ratio", hit_ratio(view)},
                          {"memory", memory_json(view.numbers)},
                          {"flights", {{"count", view.numbers.flights}, {"bytes", view.numbers.flights_bytes}}},
                          {"purge_records", view.numbers.purge_records},
                          {"redis", redis ? redis_json(*redis, view) : Json(nullptr)}});
}

http::LocalReply do_purge(const Sources& sources, std::string_view body) {
  const PurgeRequest request = read_purge_request(body);
  if (!request.problem.empty()) return error_reply(400, request.problem);
  const std::size_t purged = sources.purge(request.what, request.soft);
  return json_reply(200, {{"purged", purged}, {"soft", request.soft}});
}

}  // namespace brink::admin
