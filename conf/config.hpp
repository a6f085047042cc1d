// The configuration as one tree of plain structs: what the YAML files say, with units converted, names resolved to
// text, defaults filled in and secrets substituted. Immutable once loaded, so any thread may read it.
//
// Durations are milliseconds, sizes bytes. A limit of 0 means "no limit" only where the comment says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brink::conf {

using Duration = std::chrono::milliseconds;
using HeaderList = std::vector<std::pair<std::string, std::string>>;  // in file order, names as written

// Where a value stands in the files. Lines and columns count from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

struct NodeConfig {
  std::string id;        // default: host name
  std::string region;    // free text, may be empty
  unsigned workers = 0;  // threads; 0 is `auto`: one for each CPU this process may run on
  Duration drain_timeout{30'000};
};

struct ListenerConfig {
  std::string host;        // numeric address; IPv6 without brackets
  std::uint16_t port = 0;  // 0: the system chooses, the log names it
};

// How clients are treated, the same on each listener.
struct DownstreamConfig {
  struct Limits {
    std::uint64_t head = std::uint64_t{32} * 1024;   // bytes of a request head, request line included; past it 431
    std::uint32_t fields = 100;                      // fields in a head; past it 431
    std::uint64_t target = std::uint64_t{8} * 1024;  // bytes of a request target; past it 414
    std::uint32_t connections = 65536;  // open client connections in the whole process; past it the new one is closed
  } limits;
  struct Timeouts {
    Duration head{10'000};        // from the first byte of a request to its complete head; 408
    Duration body{30'000};        // between two reads of a request body; 408
    Duration keep_alive{75'000};  // an idle connection is closed after it
    Duration write{60'000};       // a client that takes no byte for this long is closed
  } timeouts;
  std::vector<std::string> trusted_proxies;  // CIDR networks whose x-forwarded-* fields are believed
};

struct AdminConfig {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9901;
};

enum class Balance { weighted_round_robin, score, least_requests, prefix_affinity };

struct EndpointConfig {
  std::string url;   // as written: http://host:port or unix:///path
  std::string host;  // name or numeric address; empty for a Unix socket
  std::uint16_t port = 80;
  std::string path;     // of the Unix socket; empty for TCP
  unsigned weight = 1;  // 1..1000
  double max_qps = 0;   // requests a second at most, the whole process; 0: no cap
  Location where;
  std::string label;  // a name in the place of the address: of endpoints that Brink makes itself
  // The name in logs, metrics and x-brink-endpoint: `host:port`, or `unix:/path`. Keys the live state across reloads.
  std::string name() const {
    if (!label.empty()) return label;
    if (!path.empty()) return "unix:" + path;
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

struct HealthCheckConfig {
  std::string path = "/health";
  Duration interval{2'000};
  Duration timeout{1'000};
  unsigned unhealthy_after = 3;  // consecutive failures
  unsigned healthy_after = 2;    // consecutive successes
};

// Which endpoints are left out for a while because of how they answered (docs/failures.md).
struct OutlierConfig {
  unsigned consecutive_failures = 5;  // 0: not by this
  double failure_share = 0.5;         // of at least `min_requests` in `window`; 0: not by this
  unsigned min_requests = 20;
  Duration window{10'000};
  double slow_factor = 0;      // first byte this many times slower than the cluster's median; 0: not by this
  Duration eject_for{10'000};  // the first time; doubles with each further one
  Duration max_eject_for{300'000};
  double max_ejected = 0.5;     // share of the endpoints; the others stay
  Duration slow_start{10'000};  // an endpoint that returns gets its full share after it; 0: at once
};

// Requests wait here while every endpoint is at its limit.
struct QueueConfig {
  unsigned size = 0;        // waiting requests in the whole process; 0: no queue
  Duration timeout{5'000};  // of one request; past it 503
};

// Where an engine publishes its load, and under which names.
struct EngineMetricsConfig {
  enum class Engine { vllm, sglang, tgi, llamacpp, triton } engine = Engine::vllm;
  std::string path = "/metrics";
  Duration interval{500};
};

// Which field of a request names its session: requests of a session return to the endpoint that has their context.
struct SessionConfig {
  std::string header;  // its value; or
  std::string field;   // a top-level string of the JSON body
};

// What the node foresees for a cluster, and how many replicas that takes (docs/scaling.md).
struct ForecastConfig {
  double tokens_per_replica = 0;    // prompt and answer tokens a second that one endpoint serves well; 0: not by this
  double requests_per_replica = 0;  // requests a second; 0: not by this
  double headroom = 0.2;            // replicas beyond the forecast, as a share
  unsigned min_replicas = 1;
  unsigned max_replicas = 64;
  Duration ahead{600'000};
  Duration season{86'400'000};
};

struct ClusterConfig {
  std::string name;
  Balance balance = Balance::score;
  std::vector<EndpointConfig> endpoints;  // at least one
  std::optional<HealthCheckConfig> health_check;
  OutlierConfig outlier;
  double panic_threshold = 0.5;  // with fewer usable than this share, all are used; 0: never
  QueueConfig queue;
  std::string fallback;                        // another cluster's name, `local_model`, or empty
  std::optional<EngineMetricsConfig> metrics;  // absent: not asked
  std::optional<SessionConfig> session;        // absent: no request returns for that reason
  std::optional<ForecastConfig> forecast;      // absent: none
  struct Limits {
    unsigned connections = 1024;         // open to the whole cluster, idle ones included; past it 503
    unsigned requests = 1024;            // in flight in the whole cluster; past it 503
    unsigned per_endpoint_requests = 0;  // in flight at one endpoint; 0: no limit
  } limits;
  struct KeepAlive {
    Duration idle{4'000};        // below the 5 s after which common Python servers close
    unsigned connections = 256;  // idle ones kept for each endpoint and worker
  } keep_alive;
  Location where;
};

struct MatchConfig {
  std::vector<std::string> hosts;    // lower case; "*.example.com" matches one or more leading labels; empty: any
  std::string path;                  // exact, or empty
  std::string path_prefix;           // by path elements as in the Gateway API: "/v1" matches /v1 and /v1/x, not /v1x
  std::vector<std::string> methods;  // empty: any
  HeaderList headers;                // each must be present with exactly this value; names are case-insensitive
  std::vector<std::string> models;   // shell wildcards (* and ?) on the JSON body's `model`; empty: any
};

struct SplitConfig {
  std::string cluster;
  unsigned weight = 1;  // 0..1000000; 0 takes no traffic
};

// A request with this header value goes to this cluster of the split, whatever the weights.
struct HeaderChoiceConfig {
  std::string header;
  std::string value;
  std::string cluster;
};

// Requests with the same value go to the same cluster of the split while the weights stay.
struct StickyConfig {
  enum class By { cookie, header, user } by = By::cookie;  // user: the JSON body's `user`, else the credential
  std::string name = "brink-split";                        // of the cookie or header
  Duration ttl{86'400'000};                                // of the cookie
};

// A share of the requests is sent to another cluster as well; its answers are dropped.
struct MirrorConfig {
  std::string cluster;
  double share = 1;             // 0..1 of the route's requests
  unsigned max_in_flight = 16;  // mirrored requests at once in the whole process; more are left out
  std::uint64_t max_body = std::uint64_t{1024} * 1024;  // bytes; a larger request is left out
};

// A cluster of the split that does worse than the first one is taken out of it.
struct RollbackConfig {
  double errors = 0.05;        // its share of failed requests may be above the first cluster's by this much
  double ttft = 0.5;           // its mean time to first byte may be longer by this share
  unsigned min_requests = 50;  // in the window, of each of the two, before anything is decided
  Duration window{60'000};
  Duration hold{0};  // it returns by itself after this; 0: only by a person or a changed configuration
};

struct RespondConfig {
  unsigned status = 200;  // 200..599
  HeaderList headers;
  std::string body;
};

struct RewriteConfig {
  std::optional<std::string> path;         // replaces the whole path, the query stays
  std::optional<std::string> path_prefix;  // replaces what `match.path_prefix` matched
  std::optional<std::string> model;        // replaces the JSON body's `model`
  std::optional<std::string> host;         // the Host field sent to the backend; default: the client's
  HeaderList set_headers;                  // on the request to the backend
  std::vector<std::string> remove_headers;
  HeaderList set_response_headers;  // on the response to the client
  std::vector<std::string> remove_response_headers;
};

struct TimeoutsConfig {
  Duration connect{1'000};
  Duration first_byte{60'000};  // from the request's last byte sent to the response's first
  Duration idle{30'000};        // between two reads of the response
  Duration total{600'000};      // the whole exchange; not for tunnels
  Duration tunnel{3'600'000};   // a WebSocket with no byte either way for this long is closed
};

enum class CacheMode { off, http, exact };

// What may be answered from the edge (docs/caching.md).
struct CacheConfig {
  CacheMode mode = CacheMode::off;
  Duration ttl{1'800'000};  // exact: how long an answer serves; http: where the response is silent, 0: RFC 9111
  enum class Scope { credential, public_ } scope = Scope::credential;  // exact: who shares an answer
  enum class When { repeatable, always } when = When::repeatable;      // exact: which requests are eligible
  std::uint64_t max_object = std::uint64_t{16} * 1024 * 1024;          // bytes of a body; a larger one is not stored
  bool coalesce = true;                                                // identical requests share one backend call
  unsigned followers = 1000;  // requests that may wait for one backend call; the next goes on its own
};

enum class Encoding { zstd, gzip };

struct CompressConfig {
  std::vector<Encoding> encodings{Encoding::zstd, Encoding::gzip};  // in order of preference
  unsigned level = 3;                                               // 1..9, of either
  std::uint64_t min_size = 256;                                     // bytes; a smaller body goes as it is
};

// What is tried again, before the client has seen a byte.
struct RetryConfig {
  enum On : unsigned {  // bits
    connect = 1,
    reset = 2,
    timeout = 4,
    s429 = 8,
    s500 = 16,
    s502 = 32,
    s503 = 64,
    s504 = 128,
  };
  unsigned attempts = 2;  // further ones
  unsigned on = connect | reset | s429 | s502 | s503 | s504;
  double budget = 0.2;         // of the cluster's requests in the last 10 s may be retries, and always 3 a second
  bool non_idempotent = true;  // POST and PATCH too, though some of the request was sent; inference repeats harmlessly
  Duration backoff{25};        // upper bound of the random wait before the first one; doubles
  Duration max_backoff{250};
};

// A second endpoint is asked when the first is late; the first answer wins.
struct HedgeConfig {
  double percentile = 0.95;  // of the endpoint's own first byte
  Duration least{50};        // never earlier
  double budget = 0.05;      // of the cluster's requests may be hedged
};

struct RouteConfig {
  std::string name;
  MatchConfig match;
  std::vector<SplitConfig> clusters;          // `cluster: x` is one entry of weight 1; empty when `respond` is set
  std::vector<HeaderChoiceConfig> by_header;  // asked before the weights, in order
  std::optional<StickyConfig> sticky;
  std::optional<MirrorConfig> mirror;
  std::optional<RollbackConfig> rollback;
  std::optional<RespondConfig> respond;
  std::optional<Duration> slo_ttft;  // a first byte foreseen later than this is not waited for; absent: never
  TimeoutsConfig timeouts;
  RewriteConfig rewrite;
  RetryConfig retry;
  std::optional<HedgeConfig> hedge;  // absent: none
  Duration keep_alive_comments{0};   // an event stream that is silent for this long gets a comment; 0: none
  CacheConfig cache;
  std::optional<CompressConfig> compress;  // absent: bodies go as they come
  bool decompress_requests = false;        // zstd and gzip request bodies reach the backend decoded
  struct Limits {
    std::uint64_t body = std::uint64_t{16} * 1024 * 1024;  // bytes of a request body; past it 413
  } limits;
  Location where;
};

// The shared tier of the cache.
struct RedisConfig {
  std::string url;  // redis://[user:password@]host:port/db, rediss://..., unix:///path; placeholders replaced
  enum class Mode { single, cluster, sentinel } mode = Mode::single;
  std::string master;              // sentinel: the name of the monitored master
  std::vector<std::string> nodes;  // cluster, sentinel: further host:port to ask
  Duration timeout{25};            // of one command; past it the answer counts as a miss
  std::string prefix = "brink:";   // of every key and channel
  bool operator==(const RedisConfig&) const = default;
  std::string ca;  // PEM file of the authorities for rediss; empty: the system's
};

// The tiers of the response cache.
struct CacheTiersConfig {
  std::uint64_t memory = std::uint64_t{256} * 1024 * 1024;  // bytes; 0 turns the tier off
  std::optional<RedisConfig> redis;
};

// The model on the node that answers when no backend can (docs/local-model.md).
struct LocalModelConfig {
  std::string file;  // a GGUF; or
  std::string url;   // a server of the same API that somebody else runs
  unsigned threads = 2;
  unsigned parallel = 4;      // sequences decoded together
  unsigned context = 4096;    // tokens a sequence
  unsigned queue = 16;        // waiting requests; past it 503
  int nice = 10;              // 0..19
  std::string cpus;           // a list such as 0-3,8; empty: any
  std::uint64_t memory = 0;   // bytes of address space; 0: no limit
  std::string chat_template;  // a template's name; empty: the file's own
  std::string program;        // brink-model; empty: beside brink
  Duration start_timeout{60'000};
  bool operator==(const LocalModelConfig&) const = default;
};

struct AccessLogConfig {
  std::string file = "-";  // "-" is standard output; "off" turns it off; else a path, opened for appending
};

struct Config {
  NodeConfig node;
  std::vector<ListenerConfig> listeners;
  AdminConfig admin;
  DownstreamConfig downstream;
  CacheTiersConfig cache;
  std::optional<LocalModelConfig> local_model;
  std::vector<ClusterConfig> clusters;
  std::vector<RouteConfig> routes;  // in the order of the files
  AccessLogConfig access_log;
  std::string
      effective_json;  // the whole tree with defaults, secrets shown as ${env:NAME} / ${file:/path}; for /config
};

}  // namespace brink::conf
