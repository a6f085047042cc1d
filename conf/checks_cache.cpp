// The checks of the cache's blocks.
#include "conf/checks.hpp"
#include "conf/secrets.hpp"

namespace brink::conf {
namespace {

constexpr std::size_t max_authorities = std::size_t{4} * 1024 * 1024;

// Found now rather than when the first connection fails. A relative path starts where the file that names it stands.
void check_authorities(const Scope& scope, RedisConfig& redis) {
  const std::filesystem::path path = std::filesystem::path(scope.at("ca").file).parent_path() / redis.ca;
  std::string text;
  std::string wrong = read_file(path, max_authorities, text);
  if (wrong.empty() && text.find("-----BEGIN ") == std::string::npos) {
    wrong = ticked(path.string()) + " holds no certificate in PEM form";
  }
  // The reasons name the path, which a placeholder may have given.
  if (!wrong.empty() && has_placeholder(scope.shown["ca"].get<std::string>())) wrong = "no certificates in that file";
  if (!wrong.empty()) scope.problem("ca", "`ca`: " + wrong);
  redis.ca = path.string();
}

// What the URL and the mode must have in common.
void check_redis_url_fits(const Scope& scope, const RedisConfig& redis, const RedisUrl& url) {
  const bool single = redis.mode == RedisConfig::Mode::single;
  if (!single && url.scheme == RedisUrl::Scheme::unix_) {
    scope.problem("url", "`url`: a cluster or its sentinels are reached over TCP; use `redis://` or `rediss://`");
  }
  if (redis.mode == RedisConfig::Mode::cluster && url.database != 0) {
    scope.problem("url", "`url`: a Redis cluster has the database 0 only");
  }
}

}  // namespace

void check_redis(Scope& scope, void* object) {
  auto& redis = *static_cast<RedisConfig*>(object);
  const bool sentinel = redis.mode == RedisConfig::Mode::sentinel;
  RedisUrl url;
  const bool url_is_right = scope.has("url") && parse_redis_url(redis.url, url).empty();
  if (!scope.is_wrong("mode")) {
    if (sentinel && !scope.has("master") && !scope.is_wrong("master")) {
      scope.problem("mode", "redis in mode `sentinel` needs the key `master`, the name that the sentinels watch");
    }
    if (!sentinel && scope.has("master")) {
      scope.problem("master", "`master` is for `mode: sentinel` only; remove it, or set the mode");
    }
    if (redis.mode == RedisConfig::Mode::single && scope.has("nodes")) {
      scope.problem("nodes", "`nodes` are for `mode: cluster` and `mode: sentinel`; remove them, or set the mode");
    }
    if (url_is_right) check_redis_url_fits(scope, redis, url);
  }
  if (!scope.has("ca")) return;
  if (url_is_right && url.scheme != RedisUrl::Scheme::rediss) {
    scope.problem("ca", "`ca` is for `rediss://` only; remove it, or use that scheme in `url`");
  } else {
    check_authorities(scope, redis);
  }
}

// Keys without an effect are mistakes where they are written; where they are defaults they are not shown.
void check_route_cache(Scope& scope, void* object) {
  auto& cache = *static_cast<CacheConfig*>(object);
  if (!cache.coalesce) {
    if (scope.has("followers")) {
      scope.problem("followers", "`followers` has no effect beside `coalesce: false`; remove it");
    }
    scope.shown.erase("followers");
  }
  if (!scope.has("mode")) return;
  if (cache.mode == CacheMode::exact) {
    if (cache.ttl == Duration::zero()) {
      scope.problem("ttl", "`ttl` of 0 would never serve an answer; make it longer, or write `mode: off`");
    }
    return;
  }
  for (const char* key : {"scope", "when"}) {
    if (scope.has(key)) scope.problem(key, ticked(key) + " is for `mode: exact` only; remove it");
    scope.shown.erase(key);
  }
  // A default would overrule the heuristics of RFC 9111 section 4.2.2.
  if (cache.mode == CacheMode::http && !scope.has("ttl") && !scope.is_wrong("ttl")) {
    cache.ttl = Duration::zero();
    scope.shown["ttl"] = "0s";
  }
}

}  // namespace brink::conf
