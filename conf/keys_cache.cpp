// The key table's rows for the cache and for compression.
#include "conf/checks.hpp"

namespace brink::conf {
namespace {

constexpr std::int64_t second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
constexpr std::int64_t gib = std::int64_t{1} << 30, tib = 1024 * gib;
// Each in the order of its enumeration.
constexpr std::string_view redis_modes[] = {"single", "cluster", "sentinel"};
constexpr std::string_view cache_modes[] = {"off", "http", "exact"};
constexpr std::string_view scopes[] = {"credential", "public"};
constexpr std::string_view whens[] = {"repeatable", "always"};
constexpr std::string_view encodings[] = {"zstd", "gzip"};

constexpr Key redis_keys[] = {
    {.name = "url",
     .kind = Kind::text,
     .doc = "redis://[user:password@]host:port/database, rediss:// for TLS, unix:///path",
     .required = true,
     .credentials = true,
     .check = check_redis_url,
     .set = store<&RedisConfig::url>},
    {.name = "mode",
     .kind = Kind::choice,
     .doc = "What the URL leads to: one server, a node of a cluster, a sentinel",
     .fallback = "single",
     .choices = redis_modes,
     .set = store<&RedisConfig::mode>},
    {.name = "master",
     .kind = Kind::text,
     .doc = "In mode sentinel, required: the name of the monitored master",
     .check = check_visible,
     .set = store<&RedisConfig::master>},
    {.name = "nodes",
     .kind = Kind::texts,
     .doc = "In modes cluster and sentinel: further host:port to ask",
     .check = check_host_port,
     .set = store<&RedisConfig::nodes>},
    {.name = "timeout",
     .kind = Kind::duration,
     .doc = "Of one command; past it the answer counts as a miss",
     .fallback = "25ms",
     .min = 1,
     .max = minute,
     .set = store<&RedisConfig::timeout>},
    {.name = "prefix",
     .kind = Kind::text,
     .doc = "Of every key and channel",
     .fallback = "brink:",
     .check = check_visible,
     .set = store<&RedisConfig::prefix>},
    {.name = "ca",
     .kind = Kind::text,
     .doc = "PEM file of the authorities for rediss, relative to this file; default: the system's",
     .check = check_not_empty,
     .set = store<&RedisConfig::ca>},
};
constexpr Block redis_block{"redis", redis_keys, {}, {}, check_redis};

constexpr Key cache_tiers_keys[] = {
    {.name = "memory",
     .kind = Kind::size,
     .doc = "Bytes kept in this process; 0 turns the tier off",
     .fallback = "256MiB",
     .min = 0,
     .max = tib,
     .set = store<&CacheTiersConfig::memory>},
    {.name = "redis",
     .kind = Kind::block,
     .doc = "The tier that nodes share; without it there is none",
     .block = &redis_block,
     .open = open<&CacheTiersConfig::redis>},
};

constexpr Key route_cache_keys[] = {
    {.name = "mode",
     .kind = Kind::choice,
     .doc = "http: by RFC 9111; exact: the same JSON request gets the same answer",
     .choices = cache_modes,
     .required = true,
     .set = store<&CacheConfig::mode>},
    {.name = "ttl",
     .kind = Kind::duration,
     .doc = "How long an answer serves; in mode http, where a response does not say, by default by RFC 9111",
     .fallback = "30m",
     .min = 0,
     .max = 365 * day,
     .set = store<&CacheConfig::ttl>},
    {.name = "scope",
     .kind = Kind::choice,
     .doc = "In mode exact: who shares an answer, those with the same credential or all",
     .fallback = "credential",
     .choices = scopes,
     .set = store<&CacheConfig::scope>},
    {.name = "when",
     .kind = Kind::choice,
     .doc = "In mode exact: only requests that ask for a repeatable answer, or all",
     .fallback = "repeatable",
     .choices = whens,
     .set = store<&CacheConfig::when>},
    {.name = "max_object",
     .kind = Kind::size,
     .doc = "Bytes of a body; a larger one is not stored",
     .fallback = "16MiB",
     .min = 1,
     .max = gib,
     .set = store<&CacheConfig::max_object>},
    {.name = "coalesce",
     .kind = Kind::boolean,
     .doc = "Identical requests at the same time share one call to the backend",
     .fallback = "true",
     .set = store<&CacheConfig::coalesce>},
    {.name = "followers",
     .kind = Kind::integer,
     .doc = "Requests that may wait for one call to the backend; the next goes on its own",
     .fallback = "1000",
     .min = 1,
     .max = 1'000'000,
     .set = store<&CacheConfig::followers>},
};

constexpr Key compress_keys[] = {
    {.name = "encodings",
     .kind = Kind::some_choices,
     .doc = "In order of preference",
     .fallback = "[zstd, gzip]",
     .choices = encodings,
     .set = store<&CompressConfig::encodings>},
    {.name = "level",
     .kind = Kind::integer,
     .doc = "From fast to small, of either encoding",
     .fallback = "3",
     .min = 1,
     .max = 9,
     .set = store<&CompressConfig::level>},
    {.name = "min_size",
     .kind = Kind::size,
     .doc = "Bytes of a body; a smaller one goes as it is",
     .fallback = "256",
     .min = 0,
     .max = gib,
     .set = store<&CompressConfig::min_size>},
};

}  // namespace

constexpr Block cache_tiers_block{"cache", cache_tiers_keys};
constexpr Block route_cache_block{"a route's cache", route_cache_keys, {}, {}, check_route_cache};
constexpr Block compress_block{"compress", compress_keys};

}  // namespace brink::conf
