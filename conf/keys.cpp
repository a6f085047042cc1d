// The key table's top level and everything that concerns the node as a whole. Clusters and routes: keys_clusters.cpp,
// keys_routes.cpp.
#include "conf/checks.hpp"

namespace brink::conf {
namespace {

constexpr std::int64_t second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
constexpr std::int64_t kib = 1024, mib = 1024 * kib;
constexpr std::string_view log_formats[] = {"json"};

constexpr Key node_keys[] = {
    {.name = "id",
     .kind = Kind::text,
     .doc = "Name of this node in logs and metrics; default: the host name",
     .check = check_visible,
     .set = store<&NodeConfig::id>},
    {.name = "region",
     .kind = Kind::text,
     .doc = "Free text, shown in logs and metrics",
     .fallback = "",
     .set = store<&NodeConfig::region>},
    {.name = "workers",
     .kind = Kind::integer,
     .doc = "Threads; auto is one for each CPU this process may run on",
     .fallback = "auto",
     .min = 1,
     .max = 256,
     .word = "auto",
     .set = store<&NodeConfig::workers>},
    {.name = "drain_timeout",
     .kind = Kind::duration,
     .doc = "How long a stopping node waits for running requests",
     .fallback = "30s",
     .min = 0,
     .max = day,
     .set = store<&NodeConfig::drain_timeout>},
};
constexpr Block node_block{"node", node_keys, {}, {}, check_node};

constexpr Key listener_keys[] = {
    {.name = "address",
     .kind = Kind::address,
     .doc = "Numeric address and port; port 0: the system chooses, the log names it",
     .required = true,
     .set = store_address<ListenerConfig>},
    {.name = "tls", .kind = Kind::later, .doc = "TLS on listeners"},
};
constexpr Block listener_block{"a listener", listener_keys};

constexpr Key admin_keys[] = {
    {.name = "address",
     .kind = Kind::address,
     .doc = "Where the admin API listens; keep it off public networks",
     .fallback = "127.0.0.1:9901",
     .set = store_address<AdminConfig>},
};
constexpr Block admin_block{"admin", admin_keys};

using ClientLimits = DownstreamConfig::Limits;
constexpr Key client_limit_keys[] = {
    {.name = "head",
     .kind = Kind::size,
     .doc = "Bytes of a request head, request line included; past it 431",
     .fallback = "32KiB",
     .min = kib,
     .max = mib,
     .set = store<&ClientLimits::head>},
    {.name = "fields",
     .kind = Kind::integer,
     .doc = "Fields in a request head; past it 431",
     .fallback = "100",
     .min = 1,
     .max = 10'000,
     .set = store<&ClientLimits::fields>},
    {.name = "target",
     .kind = Kind::size,
     .doc = "Bytes of a request target; past it 414",
     .fallback = "8KiB",
     .min = 64,
     .max = mib,
     .set = store<&ClientLimits::target>},
    {.name = "connections",
     .kind = Kind::integer,
     .doc = "Open client connections in the whole process; past it the new one is closed",
     .fallback = "65536",
     .min = 1,
     .max = 10'000'000,
     .set = store<&ClientLimits::connections>},
};
constexpr Block client_limits_block{"downstream.limits", client_limit_keys};

using ClientTimeouts = DownstreamConfig::Timeouts;
constexpr Key client_timeout_keys[] = {
    {.name = "head",
     .kind = Kind::duration,
     .doc = "From the first byte of a request to its complete head; past it 408",
     .fallback = "10s",
     .min = 1,
     .max = hour,
     .set = store<&ClientTimeouts::head>},
    {.name = "body",
     .kind = Kind::duration,
     .doc = "Between two reads of a request body; past it 408",
     .fallback = "30s",
     .min = 1,
     .max = hour,
     .set = store<&ClientTimeouts::body>},
    {.name = "keep_alive",
     .kind = Kind::duration,
     .doc = "An idle connection is closed after it",
     .fallback = "75s",
     .min = 1,
     .max = day,
     .set = store<&ClientTimeouts::keep_alive>},
    {.name = "write",
     .kind = Kind::duration,
     .doc = "A client that takes no byte for this long is closed",
     .fallback = "60s",
     .min = 1,
     .max = hour,
     .set = store<&ClientTimeouts::write>},
};
constexpr Block client_timeouts_block{"downstream.timeouts", client_timeout_keys};

constexpr Key downstream_keys[] = {
    {.name = "limits",
     .kind = Kind::block,
     .doc = "What a client may send",
     .fallback = "{}",
     .block = &client_limits_block,
     .open = open<&DownstreamConfig::limits>},
    {.name = "timeouts",
     .kind = Kind::block,
     .doc = "How long a client may take",
     .fallback = "{}",
     .block = &client_timeouts_block,
     .open = open<&DownstreamConfig::timeouts>},
    {.name = "trusted_proxies",
     .kind = Kind::texts,
     .doc = "Networks whose x-forwarded-* fields are believed",
     .fallback = "[]",
     .may_be_empty = true,
     .check = check_network,
     .set = store<&DownstreamConfig::trusted_proxies>},
};
constexpr Block downstream_block{"downstream", downstream_keys};

constexpr Key access_log_keys[] = {
    {.name = "file",
     .kind = Kind::text,
     .doc = "- is standard output, off turns the log off, else a path to append to",
     .fallback = "-",
     .check = check_log_file,
     .set = store<&AccessLogConfig::file>},
    {.name = "format",
     .kind = Kind::choice,
     .doc = "One JSON object a line",
     .fallback = "json",
     .choices = log_formats,
     .set = [](void*, const Value&) {}},
};
constexpr Block access_log_block{"access_log", access_log_keys};

void store_include(void* object, const Value& value) {
  static_cast<Document*>(object)->includes.push_back({value.text, value.where});
}

const Key root_keys[] = {
    {.name = "node",
     .kind = Kind::block,
     .doc = "This process",
     .fallback = "{}",
     .block = &node_block,
     .open = open<&Document::node, Document>},
    {.name = "listeners",
     .kind = Kind::blocks,
     .doc = "Where clients connect",
     .block = &listener_block,
     .open = open<&Document::listeners, Document>},
    {.name = "admin",
     .kind = Kind::block,
     .doc = "The admin API's listener",
     .fallback = "{}",
     .block = &admin_block,
     .open = open<&Document::admin, Document>},
    {.name = "downstream",
     .kind = Kind::block,
     .doc = "How clients are treated, the same on each listener",
     .fallback = "{}",
     .block = &downstream_block,
     .open = open<&Document::downstream, Document>},
    {.name = "cache",
     .kind = Kind::block,
     .doc = "The tiers of the response cache",
     .fallback = "{}",
     .block = &cache_tiers_block,
     .open = open<&Document::cache, Document>},
    {.name = "local_model",
     .kind = Kind::block,
     .doc = "The model on the node that answers when no backend can",
     .block = &local_model_block,
     .open = open<&Document::local_model, Document>},
    {.name = "clusters",
     .kind = Kind::named_blocks,
     .doc = "Named groups of endpoints",
     .may_be_empty = true,
     .in_included = true,
     .max_items = 10'000,
     .check_name = check_name,
     .block = &cluster_block,
     .open = open<&Document::clusters, Document>},
    {.name = "routes",
     .kind = Kind::blocks,
     .doc = "Which request goes where; the most specific match wins",
     .in_included = true,
     .max_items = 10'000,
     .block = &route_block,
     .open = open<&Document::routes, Document>},
    {.name = "include",
     .kind = Kind::texts,
     .doc = "Files with further clusters and routes; globs relative to this file",
     .may_be_empty = true,
     .literal = true,
     .in_included = true,
     .check = check_not_empty,
     .set = store_include},
    {.name = "access_log",
     .kind = Kind::block,
     .doc = "One line a request",
     .fallback = "{}",
     .word = "off",
     .word_key = "file",
     .block = &access_log_block,
     .open = open<&Document::access_log, Document>},
};
const Block root{"the top level of a file", root_keys};

}  // namespace

const Block& root_block() { return root; }

}  // namespace brink::conf
