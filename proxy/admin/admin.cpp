#include "proxy/admin/admin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "proxy/admin/access_rules.hpp"
#include "proxy/admin/cache_api.hpp"
#include "proxy/admin/dashboard.hpp"
#include "proxy/admin/replies.hpp"

namespace brink::admin {
namespace {

using boost::beast::http::verb;

std::string_view name_of(conf::Balance balance) {
  switch (balance) {
    case conf::Balance::weighted_round_robin:
      return "weighted_round_robin";
    case conf::Balance::score:
      return "score";
    case conf::Balance::least_requests:
      return "least_requests";
    case conf::Balance::prefix_affinity:
      return "prefix_affinity";
  }
  return "";
}

double seconds_of(router::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// Why an endpoint gets less than its share, or nothing.
Json ejection_json(const router::Ejection& ejection, const conf::OutlierConfig& config, router::Time now) {
  const auto phase = ejection.phase(now);
  return {{"out_for_s", seconds_of(ejection.left(now))},
          {"trial", phase == router::Ejection::Phase::trial},
          {"share", phase == router::Ejection::Phase::in ? ejection.ramp(now, config.slow_start) : 0.0},
          {"paused_for_s", seconds_of(ejection.paused(now))},
          {"ejections", ejection.ejections()},
          {"consecutive_failures", ejection.consecutive.load()}};
}

Json endpoint_json(const EndpointView& view, const conf::OutlierConfig& config, router::Time now) {
  const router::EndpointState& state = *view.state;
  const auto cost = state.cost.view(now);
  constexpr double least_evidence = 0.1;  // below it the cost says nothing
  const double first_byte = state.first_byte_ms;
  const auto or_null = [](bool known, double value) { return known ? Json(value) : Json(nullptr); };
  return {{"name", state.name},
          {"weight", view.weight},
          {"healthy", state.healthy.load()},
          {"in_flight", state.in_flight.load()},
          {"in_flight_bytes", state.in_flight_bytes.load()},
          {"waiting", state.waiting.load()},
          {"waiting_ms", std::chrono::duration<double, std::milli>(state.waiting.mean_age(now)).count()},
          {"requests", state.requests.load()},
          {"successes", state.successes.load()},
          {"rejections", state.rejections.load()},
          {"failures", state.failures.load()},
          {"cancellations", state.cancellations.load()},
          {"first_byte_ms", or_null(first_byte > 0, first_byte)},
          {"learned",
           {{"cost_ns", or_null(cost.evidence >= least_evidence, std::exp(cost.log_cost))},
            {"error", cost.error},
            {"evidence", cost.evidence},
            {"trouble", state.trouble.factor(now)}}},
          {"outlier", ejection_json(state.ejection, config, now)}};
}

Json match_json(const conf::MatchConfig& match) {
  Json json = Json::object();
  if (!match.hosts.empty()) json["hosts"] = match.hosts;
  if (!match.path.empty()) json["path"] = match.path;
  if (!match.path_prefix.empty()) json["path_prefix"] = match.path_prefix;
  if (!match.methods.empty()) json["methods"] = match.methods;
  // Names only: a value may be a secret, which /config shows as it is written in the file.
  for (const auto& [name, value] : match.headers) json["headers"].push_back(name);
  if (!match.models.empty()) json["models"] = match.models;
  return json;
}

http::LocalReply show_page(const Sources&) {
  auto reply = text_reply(200, "text/html; charset=utf-8", std::string(dashboard_page()));
  reply.headers.emplace_back(
      "content-security-policy",
      "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  return reply;
}

http::LocalReply show_health(const Sources&) { return json_reply(200, {{"status", "ok"}}); }

http::LocalReply show_readiness(const Sources& sources) {
  const Readiness readiness = sources.ready();
  if (readiness.ready) return json_reply(200, {{"ready", true}});
  return json_reply(503, {{"ready", false}, {"reason", readiness.reason}});
}

http::LocalReply show_metrics(const Sources& sources) {
  return text_reply(200, "text/plain; version=0.0.4; charset=utf-8", sources.metrics());
}

http::LocalReply show_config(const Sources& sources) {
  return text_reply(200, "application/json", sources.config()->effective_json);
}

http::LocalReply show_clusters(const Sources& sources) {
  const auto config = sources.config();
  const auto endpoints = sources.endpoints();
  const router::Time now = router::Clock::now();
  Json list = Json::array();
  for (const auto& cluster : config->clusters) {
    Json members = Json::array();
    for (const auto& endpoint : endpoints) {
      if (endpoint.cluster == cluster.name) members.push_back(endpoint_json(endpoint, cluster.outlier, now));
    }
    list.push_back({{"name", cluster.name}, {"balance", name_of(cluster.balance)}, {"endpoints", std::move(members)}});
  }
  return json_reply(200, {{"clusters", std::move(list)}});
}

http::LocalReply show_routes(const Sources& sources) {
  const auto config = sources.config();
  Json list = Json::array();
  for (const auto& route : config->routes) {
    Json clusters = Json::array();
    for (const auto& split : route.clusters) clusters.push_back({{"name", split.cluster}, {"weight", split.weight}});
    list.push_back({{"name", route.name},
                    {"match", match_json(route.match)},
                    {"clusters", std::move(clusters)},
                    {"respond", route.respond ? Json(route.respond->status) : Json(nullptr)},
                    {"requests", sources.route_requests(route.name)}});
  }
  return json_reply(200, {{"routes", std::move(list)}});
}

http::LocalReply do_reload(const Sources& sources) {
  const ReloadOutcome outcome = sources.reload();
  if (outcome.ok) return json_reply(200, {{"ok", true}});
  return json_reply(422, {{"ok", false}, {"problems", outcome.problems}});
}

http::LocalReply do_drain(const Sources& sources) {
  sources.drain();
  return json_reply(202, {{"draining", true}});
}

struct Path {
  std::string_view path;
  verb method;  // get answers HEAD too
  http::LocalReply (*answer)(const Sources&);
  http::LocalReply (*answer_body)(const Sources&, std::string_view body) = nullptr;  // instead, where it needs the body
};

constexpr auto paths = std::to_array<Path>({
    {"/", verb::get, &show_page},
    {"/healthz", verb::get, &show_health},
    {"/readyz", verb::get, &show_readiness},
    {"/metrics", verb::get, &show_metrics},
    {"/config", verb::get, &show_config},
    {"/clusters", verb::get, &show_clusters},
    {"/routes", verb::get, &show_routes},
    {"/cache", verb::get, &show_cache},
    {"/cache/purge", verb::post, nullptr, &do_purge},
    {"/reload", verb::post, &do_reload},
    {"/drain", verb::post, &do_drain},
});

http::LocalReply unknown_path() {
  Json list = Json::array();
  for (const Path& path : paths) list.push_back((path.method == verb::get ? "GET " : "POST ") + std::string(path.path));
  return json_reply(404, {{"error", "there is no such path"}, {"paths", std::move(list)}});
}

http::LocalReply wrong_method(const Path& path) {
  const std::string allow = path.method == verb::get ? "GET, HEAD" : "POST";
  auto reply = json_reply(405, {{"error", "this path takes " + allow}});
  reply.headers.emplace_back("allow", allow);
  return reply;
}

const Path* find_path(std::string_view path) {
  const auto* found = std::find_if(paths.begin(), paths.end(), [&](const Path& it) { return it.path == path; });
  return found == paths.end() ? nullptr : found;
}

bool is_right_method(const Path& path, verb method) {
  return method == path.method || (path.method == verb::get && method == verb::head);
}

}  // namespace

http::LocalReply Admin::handle(const http::RequestHead& request, std::string_view body) const {
  if (const auto reason = refusal(request, sources_.config()->admin.host)) return error_reply(403, *reason);
  const Path* path = find_path(request.path);
  if (path == nullptr) return unknown_path();
  if (!is_right_method(*path, request.method)) return wrong_method(*path);
  return path->answer_body != nullptr ? path->answer_body(sources_, body) : path->answer(sources_);
}

bool Admin::takes_body(const http::RequestHead& request) const {
  const Path* path = find_path(request.path);
  return path != nullptr && path->answer_body != nullptr && is_right_method(*path, request.method) &&
         !refusal(request, sources_.config()->admin.host);
}

}  // namespace brink::admin
