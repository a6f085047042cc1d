// The key table's rows for clusters.
#include "conf/checks.hpp"

namespace brink::conf {
namespace {

constexpr std::int64_t second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
constexpr std::string_view balances[] = {"weighted_round_robin", "score", "least_requests"};  // in the order of Balance
constexpr std::string_view later_balances[] = {"prefix_affinity"};

constexpr Key endpoint_keys[] = {
    {.name = "url",
     .kind = Kind::url,
     .doc = "http://host:port or unix:///path",
     .required = true,
     .set =
         [](void* object, const Value& value) {
           auto& endpoint = *static_cast<EndpointConfig*>(object);
           endpoint.url = value.raw;
           endpoint.host = value.target.host;
           endpoint.port = value.target.port;
           endpoint.path = value.target.path;
         }},
    {.name = "weight",
     .kind = Kind::integer,
     .doc = "Share of the traffic relative to the other endpoints",
     .fallback = "1",
     .min = 1,
     .max = 1000,
     .set = store<&EndpointConfig::weight>},
    {.name = "max_qps",
     .kind = Kind::rate,
     .doc = "Requests at most, the whole process; default: no cap",
     .set = store<&EndpointConfig::max_qps>},
};
constexpr Block endpoint_block{"an endpoint", endpoint_keys};

constexpr Key health_check_keys[] = {
    {.name = "path",
     .kind = Kind::text,
     .doc = "Target of the GET request; 2xx is healthy",
     .fallback = "/health",
     .check = check_path,
     .set = store<&HealthCheckConfig::path>},
    {.name = "interval",
     .kind = Kind::duration,
     .doc = "Between two checks of one endpoint",
     .fallback = "2s",
     .min = 10,
     .max = hour,
     .set = store<&HealthCheckConfig::interval>},
    {.name = "timeout",
     .kind = Kind::duration,
     .doc = "A check without an answer fails after it",
     .fallback = "1s",
     .min = 1,
     .max = hour,
     .set = store<&HealthCheckConfig::timeout>},
    {.name = "unhealthy_after",
     .kind = Kind::integer,
     .doc = "Consecutive failures that take an endpoint out",
     .fallback = "3",
     .min = 1,
     .max = 1000,
     .set = store<&HealthCheckConfig::unhealthy_after>},
    {.name = "healthy_after",
     .kind = Kind::integer,
     .doc = "Consecutive successes that bring it back",
     .fallback = "2",
     .min = 1,
     .max = 1000,
     .set = store<&HealthCheckConfig::healthy_after>},
};
constexpr Block health_check_block{"health_check", health_check_keys, {}, {}, check_health_check};

using ClusterLimits = ClusterConfig::Limits;
constexpr Key cluster_limit_keys[] = {
    {.name = "connections",
     .kind = Kind::integer,
     .doc = "Connections to the whole cluster",
     .fallback = "1024",
     .min = 1,
     .max = 10'000'000,
     .set = store<&ClusterLimits::connections>},
    {.name = "requests",
     .kind = Kind::integer,
     .doc = "Requests in flight in the whole cluster; past it 503",
     .fallback = "1024",
     .min = 1,
     .max = 10'000'000,
     .set = store<&ClusterLimits::requests>},
    {.name = "per_endpoint_requests",
     .kind = Kind::integer,
     .doc = "Requests in flight at one endpoint; 0: no limit",
     .fallback = "0",
     .min = 0,
     .max = 10'000'000,
     .set = store<&ClusterLimits::per_endpoint_requests>},
};
constexpr Block cluster_limits_block{"a cluster's limits", cluster_limit_keys};

using KeepAlive = ClusterConfig::KeepAlive;
constexpr Key keep_alive_keys[] = {
    {.name = "idle",
     .kind = Kind::duration,
     .doc = "An unused connection is closed after it; below the 5s of Python servers",
     .fallback = "4s",
     .min = 1,
     .max = day,
     .set = store<&KeepAlive::idle>},
    {.name = "connections",
     .kind = Kind::integer,
     .doc = "Unused ones kept for each endpoint and worker; 0: none",
     .fallback = "256",
     .min = 0,
     .max = 100'000,
     .set = store<&KeepAlive::connections>},
};
constexpr Block keep_alive_block{"keep_alive", keep_alive_keys};

constexpr Key cluster_keys[] = {
    {.name = "balance",
     .kind = Kind::choice,
     .doc = "How an endpoint is picked",
     .fallback = "score",
     .choices = balances,
     .later_choices = later_balances,
     .set = store<&ClusterConfig::balance>},
    {.name = "endpoints",
     .kind = Kind::blocks,
     .doc = "The backends",
     .required = true,
     .block = &endpoint_block,
     .open = open<&ClusterConfig::endpoints>},
    {.name = "health_check",
     .kind = Kind::block,
     .doc = "Active probes; without them an endpoint counts as healthy",
     .may_be_empty = true,
     .block = &health_check_block,
     .open = open<&ClusterConfig::health_check>},
    {.name = "limits",
     .kind = Kind::block,
     .doc = "Caps that protect the backends",
     .fallback = "{}",
     .block = &cluster_limits_block,
     .open = open<&ClusterConfig::limits>},
    {.name = "keep_alive",
     .kind = Kind::block,
     .doc = "Unused connections to the backends",
     .fallback = "{}",
     .block = &keep_alive_block,
     .open = open<&ClusterConfig::keep_alive>},
    {.name = "outlier",
     .kind = Kind::block,
     .doc = "Endpoints that fail or are slow are left out for a while; off: never",
     .fallback = "{}",
     .word = "off",
     .word_key = "max_ejected",
     .block = &outlier_block,
     .open = open<&ClusterConfig::outlier>},
    {.name = "panic_threshold",
     .kind = Kind::share,
     .doc = "With fewer usable endpoints than this share, all are used; 0%: never",
     .fallback = "50%",
     .min = 0,
     .max = 100,
     .set = store<&ClusterConfig::panic_threshold>},
    {.name = "queue",
     .kind = Kind::block,
     .doc = "Where requests wait while every endpoint is at its limits",
     .fallback = "{}",
     .block = &queue_block,
     .open = open<&ClusterConfig::queue>},
    {.name = "fallback",
     .kind = Kind::text,
     .doc = "Answers when this cluster cannot: another cluster, or local_model",
     .literal = true,
     .check = check_not_empty,
     .set = store<&ClusterConfig::fallback>},
    {.name = "metrics", .kind = Kind::later, .doc = "scraping engine metrics"},
    {.name = "tls", .kind = Kind::later, .doc = "TLS to backends"},
};

}  // namespace

constexpr Block cluster_block{"a cluster", cluster_keys, {}, {}, check_cluster};

}  // namespace brink::conf
