#include "conf/checks.hpp"

#include <unistd.h>

#include <array>
#include <set>

namespace brink::conf {
namespace {

std::string shown_text(const Scope& scope, std::string_view key) {
  const auto found = scope.shown.find(std::string(key));
  if (found == scope.shown.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// The same header set and removed: one of the two has no effect.
void check_edits(const Scope& scope, const HeaderList& set, const std::vector<std::string>& removed,
                 std::string_view remove_key) {
  std::set<std::string> names;
  for (const auto& [name, value] : set) names.insert(lower(name));
  for (const std::string& name : removed) {
    if (names.count(lower(name)) == 0) continue;
    scope.problem(remove_key,
                  ticked(remove_key) + " names a header that this route also sets; setting replaces it anyway");
  }
}

}  // namespace

Location Scope::at(std::string_view key) const {
  const auto found = written.find(key);
  return found == written.end() ? where : found->second;
}

void check_node(Scope& scope, void* object) {
  auto& node = *static_cast<NodeConfig*>(object);
  if (scope.shown.contains("id")) return;
  std::array<char, 256> name{};
  node.id = gethostname(name.data(), name.size() - 1) == 0 && name[0] != 0 ? name.data() : "brink";
  nlohmann::ordered_json shown{{"id", node.id}};
  shown.update(scope.shown);
  scope.shown = std::move(shown);
}

// A timeout that nobody wrote gives way to a short interval.
void check_health_check(Scope& scope, void* object) {
  auto& check = *static_cast<HealthCheckConfig*>(object);
  if (check.timeout <= check.interval || scope.is_wrong("interval")) return;
  if (scope.has("timeout")) {
    scope.problem("timeout", "`timeout` (" + shown_text(scope, "timeout") + ") is longer than `interval` (" +
                                 shown_text(scope, "interval") + "); make it shorter, or the interval longer");
    return;
  }
  check.timeout = check.interval;
  scope.shown["timeout"] = scope.shown["interval"];
}

void check_cluster(Scope& scope, void* object) {
  auto& cluster = *static_cast<ClusterConfig*>(object);
  // Where somebody else can answer, endpoints that are known to be down are left alone.
  if (!cluster.fallback.empty() && !scope.has("panic_threshold")) {
    cluster.panic_threshold = 0;
    scope.shown["panic_threshold"] = "0%";
  }
  if (cluster.name == local_model_name) {
    scope.problems.add(scope.where,
                       "a cluster cannot be named `local_model`; `fallback` means the model on the node by it");
  }
  if (scope.has("fallback")) scope.references.push_back({cluster.fallback, scope.at("fallback"), cluster.name});
  std::map<std::string, const EndpointConfig*> names;
  for (const EndpointConfig& endpoint : cluster.endpoints) {
    if (endpoint.host.empty() && endpoint.path.empty()) continue;  // its URL is wrong and reported
    const auto [earlier, first] = names.emplace(endpoint.name(), &endpoint);
    if (first) continue;
    scope.problems.add(endpoint.where,
                       "the endpoint " + ticked(endpoint.url) + " stands in this cluster already, at line " +
                           std::to_string(earlier->second->where.line) + "; give that one more `weight`");
  }
}

void check_split(Scope& scope, void* object) {
  const auto& split = *static_cast<const SplitConfig*>(object);
  if (scope.has("cluster")) scope.references.push_back({split.cluster, scope.at("cluster"), {}});
}

void check_respond(Scope& scope, void* object) {
  const auto& respond = *static_cast<const RespondConfig*>(object);
  const bool bodiless = respond.status == 204 || respond.status == 205 || respond.status == 304;
  if (bodiless && !respond.body.empty()) {
    scope.problem("body",
                  "a reply with status " + shown_text(scope, "status") + " has no `body` (RFC 9110 section 15)");
  }
}

void check_rewrite(Scope& scope, void* object) {
  const auto& rewrite = *static_cast<const RewriteConfig*>(object);
  check_edits(scope, rewrite.set_headers, rewrite.remove_headers, "remove_headers");
  check_edits(scope, rewrite.set_response_headers, rewrite.remove_response_headers, "remove_response_headers");
}

// A limit above `total` can never expire: a mistake where it was written, and cut to `total` where it is a default.
void check_timeouts(Scope& scope, void* object) {
  auto& timeouts = *static_cast<TimeoutsConfig*>(object);
  const std::pair<const char*, Duration*> parts[] = {
      {"connect", &timeouts.connect}, {"first_byte", &timeouts.first_byte}, {"idle", &timeouts.idle}};
  if (scope.is_wrong("total")) return;
  for (const auto& [key, value] : parts) {
    if (*value <= timeouts.total) continue;
    if (scope.has(key)) {
      scope.problem(key, ticked(key) + " (" + shown_text(scope, key) + ") is longer than `total` (" +
                             shown_text(scope, "total") + "), so it could never expire");
      continue;
    }
    *value = timeouts.total;
    scope.shown[key] = scope.shown["total"];
  }
}

void check_route(Scope& scope, void* object) {
  const auto& route = *static_cast<const RouteConfig*>(object);
  if (scope.has("cluster")) {
    scope.references.push_back({route.clusters.front().cluster, scope.at("cluster"), {}});
  }
  if (route.rewrite.path_prefix && route.match.path_prefix.empty()) {
    scope.problem("rewrite",
                  "`rewrite.path_prefix` replaces what `match.path_prefix` matched, and this route has none; "
                  "use `rewrite.path`, or match a prefix");
  }
  if (route.respond) {
    for (const char* key :
         {"rewrite", "timeouts", "retry", "hedge", "keep_alive_comments", "cache", "decompress_requests"}) {
      if (scope.has(key)) scope.problem(key, ticked(key) + " has no effect beside `respond`; remove it");
      scope.shown.erase(key);
    }
  }
  if (!scope.has("split")) return;
  std::set<std::string_view> names;
  bool any_weight = false;
  for (const SplitConfig& part : route.clusters) {
    any_weight = any_weight || part.weight > 0;
    if (!part.cluster.empty() && !names.insert(part.cluster).second) {
      scope.problem("split", "`split` names the cluster " + ticked(part.cluster) + " twice; add its weights up");
    }
  }
  if (!any_weight && !route.clusters.empty())
    scope.problem("split", "every weight of `split` is 0, so no cluster would take a request");
}

}  // namespace brink::conf
