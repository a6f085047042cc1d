// The keys of the cache and of compression.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/conf/files.hpp"

namespace brink::conf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

std::string redis_with(const std::string& keys) { return minimal + "cache: {redis: {" + keys + "}}\n"; }
std::string cached(const std::string& keys) { return with_route("    cache: {" + keys + "}\n"); }

std::shared_ptr<const Config> loaded(const std::string& text) {
  const LoadResult result = load_text(text);
  if (!result.config) ADD_FAILURE() << text << to_string(result.problems.front());
  return result.config ? result.config : std::make_shared<const Config>();
}

nlohmann::json shown(const std::string& text) {
  const auto config = loaded(text);
  return nlohmann::json::parse(config->effective_json.empty() ? "{}" : config->effective_json);
}

void expect_defaults(const CacheConfig& cache) {
  EXPECT_EQ(cache.ttl, CacheConfig{}.ttl);
  EXPECT_EQ(cache.scope, CacheConfig{}.scope);
  EXPECT_EQ(cache.when, CacheConfig{}.when);
  EXPECT_EQ(cache.max_object, CacheConfig{}.max_object);
  EXPECT_EQ(cache.coalesce, CacheConfig{}.coalesce);
  EXPECT_EQ(cache.followers, CacheConfig{}.followers);
}

TEST(CacheKeys, WithoutThemNothingIsCachedOrCompressed) {
  const auto config = loaded(minimal);
  EXPECT_EQ(config->cache.memory, CacheTiersConfig{}.memory);
  EXPECT_FALSE(config->cache.redis);
  const RouteConfig& route = config->routes.at(0);
  EXPECT_EQ(route.cache.mode, CacheMode::off);
  expect_defaults(route.cache);
  EXPECT_FALSE(route.compress);
  EXPECT_FALSE(route.decompress_requests);
}

TEST(CacheKeys, EmptyBlocksGetTheDefaultsOfTheirStructs) {
  const auto config = loaded(redis_with("url: \"redis://h\""));
  ASSERT_TRUE(config->cache.redis);
  EXPECT_EQ(config->cache.redis->mode, RedisConfig{}.mode);
  EXPECT_EQ(config->cache.redis->timeout, RedisConfig{}.timeout);
  EXPECT_EQ(config->cache.redis->prefix, RedisConfig{}.prefix);
  EXPECT_EQ(config->cache.redis->ca, "");
  EXPECT_EQ(config->cache.memory, CacheTiersConfig{}.memory);

  const auto exact = loaded(cached("mode: exact"));
  EXPECT_EQ(exact->routes.at(0).cache.mode, CacheMode::exact);
  expect_defaults(exact->routes.at(0).cache);

  const auto compressed = loaded(with_route("    compress: {}\n"));
  const auto& compress = compressed->routes.at(0).compress;
  ASSERT_TRUE(compress);
  EXPECT_EQ(compress->encodings, CompressConfig{}.encodings);
  EXPECT_EQ(compress->level, CompressConfig{}.level);
  EXPECT_EQ(compress->min_size, CompressConfig{}.min_size);
}

TEST(CacheKeys, EveryValueReachesItsStruct) {
  const auto config =
      loaded(cached("mode: exact, ttl: 5m, scope: public, when: always, max_object: 1MiB, followers: 7") +
             "    compress: {encodings: [gzip], level: 9, min_size: 1KiB}\n"
             "    decompress_requests: true\n"
             "cache:\n"
             "  memory: 0\n"
             "  redis: {url: \"rediss://u:p%40@[::1]:7000/3\", mode: sentinel, master: main, nodes: [\"H2:26379\", "
             "\"[::2]:1\"],\n"
             "          timeout: 5ms, prefix: \"a:\"}\n");
  EXPECT_EQ(config->cache.memory, 0u);
  const RedisConfig& redis = config->cache.redis.value();
  EXPECT_EQ(redis.url, "rediss://u:p%40@[::1]:7000/3");
  EXPECT_EQ(redis.mode, RedisConfig::Mode::sentinel);
  EXPECT_EQ(redis.master, "main");
  EXPECT_THAT(redis.nodes, ElementsAre("h2:26379", "[::2]:1"));
  EXPECT_EQ(redis.timeout, 5ms);
  EXPECT_EQ(redis.prefix, "a:");
  const RouteConfig& route = config->routes.at(0);
  EXPECT_EQ(route.cache.ttl, 5min);
  EXPECT_EQ(route.cache.scope, CacheConfig::Scope::public_);
  EXPECT_EQ(route.cache.when, CacheConfig::When::always);
  EXPECT_EQ(route.cache.max_object, 1024u * 1024u);
  EXPECT_EQ(route.cache.followers, 7u);
  EXPECT_THAT(route.compress.value().encodings, ElementsAre(Encoding::gzip));
  EXPECT_EQ(route.compress->level, 9u);
  EXPECT_EQ(route.compress->min_size, 1024u);
  EXPECT_TRUE(route.decompress_requests);
  const auto preferred = loaded(with_route("    compress: {encodings: [gzip, zstd]}\n"));
  EXPECT_THAT(preferred->routes.at(0).compress->encodings, ElementsAre(Encoding::gzip, Encoding::zstd));
  const auto cluster = loaded(redis_with("url: \"redis://h:1\", mode: cluster, nodes: [\"h:2\"]"));
  EXPECT_EQ(cluster->cache.redis->mode, RedisConfig::Mode::cluster);
  EXPECT_FALSE(loaded(cached("mode: http, coalesce: false"))->routes.at(0).cache.coalesce);
}

TEST(CacheKeys, ModeOffIsTheWordAndNotABoolean) {
  EXPECT_EQ(loaded(cached("mode: off, ttl: 5m"))->routes.at(0).cache.mode, CacheMode::off);
  EXPECT_THAT(problems_of(cached("mode: false")),
              ElementsAre("brink.yaml:9:19: `mode`: `false` is not known; valid here: `off`, `http`, `exact`"));
}

TEST(CacheKeys, InModeHttpOnlyAWrittenTtlReplacesTheHeuristics) {
  EXPECT_EQ(loaded(cached("mode: http"))->routes.at(0).cache.ttl, 0s);
  EXPECT_EQ(loaded(cached("mode: http, ttl: 10s"))->routes.at(0).cache.ttl, 10s);
  EXPECT_EQ(loaded(cached("mode: http, ttl: 0s"))->routes.at(0).cache.ttl, 0s);
  EXPECT_EQ(shown(cached("mode: http"))["routes"][0]["cache"]["ttl"], "0s");
  EXPECT_THAT(problems_of(cached("mode: exact, ttl: 0s")),
              ElementsAre(HasSubstr(":9:31: `ttl` of 0 would never serve an answer")));
}

TEST(CacheKeys, WrongValuesOfARoutesCache) {
  EXPECT_THAT(problems_of(cached("")), ElementsAre("brink.yaml:9:12: a route's cache needs the key `mode`"));
  EXPECT_THAT(problems_of(with_route("    cache: exact\n")),
              ElementsAre("brink.yaml:9:12: `cache` must be a mapping of keys to values"));
  EXPECT_THAT(problems_of(cached("mode: exakt")),
              ElementsAre(HasSubstr("`exakt` is not known; did you mean `exact`?")));
  EXPECT_THAT(problems_of(cached("mode: exact, tll: 5m")),
              ElementsAre("brink.yaml:9:26: unknown key `tll`; did you mean `ttl`? valid here: mode, ttl, scope, when, "
                          "max_object, coalesce, followers"));
  EXPECT_THAT(problems_of(cached("mode: exact, ttl: 8761h, scope: all, when: never, max_object: 0, coalesce: yes,\n"
                                 "      followers: 0")),
              ElementsAre(HasSubstr(":9:31: `ttl`: `8761h` is out of range; write 0s to 8760h"),
                          HasSubstr(":9:45: `scope`: `all` is not known; valid here: `credential`, `public`"),
                          HasSubstr(":9:56: `when`: `never` is not known; valid here: `repeatable`, `always`"),
                          HasSubstr(":9:75: `max_object`: `0` is out of range; write 1B to 1GiB"),
                          HasSubstr(":9:88: `coalesce`: `yes` is neither `true` nor `false`"),
                          HasSubstr(":10:18: `followers`: `0` is out of range; write 1 to 1000000")));
}

TEST(CacheKeys, KeysThatHaveNoEffectAreMistakes) {
  for (const std::string mode : {"http", "off"}) {
    EXPECT_THAT(
        problems_of(cached("mode: " + mode + ", scope: public, when: always")),
        ElementsAre(HasSubstr("`scope` is for `mode: exact` only"), HasSubstr("`when` is for `mode: exact` only")));
  }
  EXPECT_THAT(problems_of(cached("mode: wrong, scope: public")), ElementsAre(HasSubstr("`wrong` is not known")));
  EXPECT_THAT(problems_of(cached("mode: exact, coalesce: false, followers: 5")),
              ElementsAre(HasSubstr(":9:54: `followers` has no effect beside `coalesce: false`")));
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:0}]\n"
                          "routes: [{name: a, respond: {}, cache: {mode: http}, decompress_requests: true}]\n"),
              ElementsAre(HasSubstr(":2:40: `cache` has no effect beside `respond`"),
                          HasSubstr(":2:75: `decompress_requests` has no effect beside `respond`")));
  EXPECT_THAT(problems_of("listeners: [{address: 127.0.0.1:0}]\nroutes: [{name: a, respond: {}, compress: {}}]\n"),
              IsEmpty());
}

TEST(CacheKeys, WrongValuesOfCompression) {
  EXPECT_THAT(problems_of(with_route("    compress: {encodings: [gzip, zstd, gzip], level: 0, min_size: -1}\n")),
              ElementsAre("brink.yaml:9:40: `encodings`: `gzip` stands in this list twice",
                          "brink.yaml:9:54: `level`: `0` is out of range; write 1 to 9",
                          HasSubstr("brink.yaml:9:67: `min_size`: `-1` is no size")));
  EXPECT_THAT(problems_of(with_route("    compress: {encodings: [gzp], levl: 1}\n")),
              ElementsAre("brink.yaml:9:28: `encodings`: `gzp` is not known; did you mean `gzip`? valid here: `zstd`, "
                          "`gzip`",
                          HasSubstr("brink.yaml:9:34: unknown key `levl`; did you mean `level`?")));
  EXPECT_THAT(problems_of(with_route("    compress: {encodings: []}\n")),
              ElementsAre(HasSubstr("`encodings` is empty; give it at least one entry or remove it")));
  EXPECT_THAT(problems_of(with_route("    compress: {encodings: gzip}\n    decompress_requests: 1\n")),
              ElementsAre(HasSubstr("`encodings` must be a list"),
                          HasSubstr(":10:26: `decompress_requests`: `1` is neither `true` nor `false`")));
  EXPECT_THAT(problems_of(with_route("    compress:\n")), ElementsAre(HasSubstr("`compress` has no value")));
}

TEST(CacheKeys, WrongValuesOfTheTiers) {
  EXPECT_THAT(problems_of(minimal + "cache: {memry: 1, redis: {}}\n"),
              ElementsAre("brink.yaml:9:9: unknown key `memry`; did you mean `memory`? valid here: memory, redis",
                          "brink.yaml:9:26: redis needs the key `url`"));
  EXPECT_THAT(problems_of(minimal + "cache: {memory: 1TB, redis: {url: \"redis://h\", mode: clustr, timeout: 0s,\n"
                                    "  prefix: \"\", nodes: [h], masters: x}}\n"),
              ElementsAre(HasSubstr(":9:17: `memory`: `1TB` is no size"),
                          HasSubstr(":9:54: `mode`: `clustr` is not known; did you mean `cluster`?"),
                          HasSubstr(":9:71: `timeout`: `0s` is out of range; write 1ms to 1m"),
                          HasSubstr(":10:11: `prefix`: `` must be 1 to 255 visible ASCII characters"),
                          HasSubstr(":10:23: `nodes`: `h` has no port; write it as `host:port`"),
                          HasSubstr(":10:27: unknown key `masters`; did you mean `master`?")));
  Files files;
  files.write("brink.yaml", minimal + "include: [b.yaml]\n");
  files.write("b.yaml", "cache: {memory: 0}\n");
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre(HasSubstr("`cache` may not stand in an included file")));
}

TEST(RedisKeys, ModeAndItsKeysBelongTogether) {
  EXPECT_THAT(problems_of(redis_with("url: \"redis://h\", mode: sentinel")),
              ElementsAre(HasSubstr(":9:41: redis in mode `sentinel` needs the key `master`")));
  EXPECT_THAT(
      problems_of(redis_with("url: \"redis://h\", master: m, nodes: [\"h:1\"]")),
      ElementsAre(HasSubstr("`master` is for `mode: sentinel` only"), HasSubstr("`nodes` are for `mode: cluster`")));
  EXPECT_THAT(problems_of(redis_with("url: \"redis://h\", mode: cluster, master: m")),
              ElementsAre(HasSubstr("`master` is for `mode: sentinel` only")));
  EXPECT_THAT(problems_of(redis_with("url: \"unix:///run/r.sock\", mode: cluster")),
              ElementsAre(HasSubstr("`url`: a cluster or its sentinels are reached over TCP")));
  EXPECT_THAT(problems_of(redis_with("url: \"redis://h/1\", mode: cluster")),
              ElementsAre(HasSubstr("`url`: a Redis cluster has the database 0 only")));
  EXPECT_THAT(problems_of(redis_with("url: \"redis://h/0\", mode: cluster")), IsEmpty());
}

TEST(RedisKeys, TheAuthoritiesAreReadable) {
  Files files;
  files.write("tls/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  files.write("empty.pem", "x");
  const std::string rediss = "url: \"rediss://h\", ca: ";
  files.write("brink.yaml", redis_with(rediss + "tls/ca.pem"));
  const LoadResult result = files.load("brink.yaml");
  ASSERT_TRUE(result.config);
  EXPECT_EQ(result.config->cache.redis->ca, files.path("tls/ca.pem"));
  files.write("brink.yaml", redis_with(rediss + "gone.pem"));
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre("brink.yaml:9:40: `ca`: cannot read `gone.pem`: no such file"));
  files.write("brink.yaml", redis_with(rediss + "empty.pem"));
  EXPECT_THAT(files.problems("brink.yaml"),
              ElementsAre(HasSubstr("`ca`: `empty.pem` holds no certificate in PEM form")));
  files.write("brink.yaml", redis_with("url: \"redis://h\", ca: tls/ca.pem"));
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre(HasSubstr("`ca` is for `rediss://` only")));
  setenv("BRINK_TEST_SECRET", "s3cret", 1);
  files.write("brink.yaml", redis_with(rediss + "\"${env:BRINK_TEST_SECRET}\""));
  EXPECT_THAT(files.problems("brink.yaml"), ElementsAre("brink.yaml:9:40: `ca`: no certificates in that file"));
}

TEST(RedisKeys, UrlsThatAreFine) {
  for (const std::string url :
       {"redis://h", "redis://h/", "redis://h:1", "redis://10.0.0.1:6379/15", "rediss://[::1]:6379", "redis://:pw@h",
        "redis://u:p%40%2F:$&@h/2", "unix:///run/r.sock"}) {
    EXPECT_THAT(problems_of(redis_with("url: \"" + url + "\"")), IsEmpty()) << url;
  }
}

TEST(RedisKeys, UrlsThatAreWrongAreNotQuoted) {
  for (const std::string url : {"",
                                "h:6379",
                                "http://pw",
                                "redis:/u:pw@h",
                                "redis://",
                                "redis://:pw",
                                "redis://h:pw",
                                "redis://h:0",
                                "redis://h/pw",
                                "redis://h/1/2",
                                "redis://h/-1",
                                "redis://h/99999999999",
                                "redis://h?password=pw",
                                "redis://pw@h",
                                "redis://u:p@pw@h",
                                "redis://u:pw/@h",
                                "redis://u:pw%@h",
                                "redis://u:pw%4@h",
                                "redis://u:pw%4g@h",
                                "redis://u:p w@h",
                                "redis://u:pw@",
                                "redis://u:pw@h h",
                                "redis://u:pw@::1",
                                "unix://run/pw",
                                "unix://u:pw@/run/x",
                                "REDIS://pw"}) {
    EXPECT_THAT(problems_of(redis_with("url: \"" + url + "\"")),
                ElementsAre(testing::AllOf(HasSubstr("brink.yaml:9:22: `url` "), Not(HasSubstr("pw")))))
        << url;
  }
  EXPECT_THAT(problems_of(redis_with("url: \"unix:///" + std::string(107, 'a') + "\"")),
              ElementsAre(HasSubstr("`url` has a path past 107 bytes")));
}

TEST(RedisKeys, APasswordReachesTheTreeAndIsNeverShown) {
  setenv("BRINK_TEST_SECRET", "s3cret", 1);
  const std::string placeholder = redis_with("url: \"redis://u:${env:BRINK_TEST_SECRET}@h/1\"");
  EXPECT_EQ(loaded(placeholder)->cache.redis->url, "redis://u:s3cret@h/1");
  EXPECT_EQ(shown(placeholder)["cache"]["redis"]["url"], "redis://u:${env:BRINK_TEST_SECRET}@h/1");

  const std::string plain = redis_with("url: \"redis://u:s3cret@h/1\"");
  EXPECT_EQ(loaded(plain)->cache.redis->url, "redis://u:s3cret@h/1");
  EXPECT_EQ(shown(plain)["cache"]["redis"]["url"], "redis://u:***@h/1");

  setenv("BRINK_TEST_SECRET", "s3cret@", 1);
  const auto problems = problems_of(placeholder);
  EXPECT_THAT(problems, ElementsAre(testing::AllOf(HasSubstr("must be percent-encoded"), Not(HasSubstr("s3cret")))));
}

TEST(RedisKeys, WhatIsShownMeansTheSame) {
  for (const std::string& text :
       {redis_with("url: \"redis://u:pw@h\", mode: sentinel, master: m, nodes: [\"h:1\"]"), cached("mode: exact"),
        cached("mode: http"), cached("mode: off"), cached("mode: http, coalesce: false"),
        with_route("    compress: {}\n    decompress_requests: true\n"),
        std::string("listeners: [{address: 127.0.0.1:0}]\nroutes: [{name: a, respond: {}}]\n")}) {
    const auto first = shown(text);
    EXPECT_EQ(first, shown(first.dump())) << text;
  }
  EXPECT_EQ(shown(with_route("    compress: {}\n"))["routes"][0]["compress"]["encodings"],
            nlohmann::json({"zstd", "gzip"}));
  EXPECT_EQ(shown(cached("mode: exact"))["routes"][0]["cache"]["coalesce"], true);
  EXPECT_FALSE(shown(minimal)["routes"][0].contains("cache"));
}

}  // namespace
}  // namespace brink::conf
