// Finds routes that no request can reach. Under the Gateway API's precedence a route loses to an earlier one only where
// host, path, number of headers and the presence of methods and models are all equal; what is more specific wins
// whatever its place. So only routes that agree in these can hide each other, and the check compares within such
// groups.
#include <algorithm>
#include <map>
#include <set>

#include "conf/checks.hpp"

namespace brink::conf {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Everything but methods and models that decides which route is asked first, for one of a route's hosts.
std::string group_of(const RouteConfig& route, const std::string& host) {
  std::string path = route.match.path;
  if (path.empty()) {
    std::string prefix = route.match.path_prefix;
    if (prefix.ends_with('/')) prefix.pop_back();  // `/v1/` and `/v1` match the same; no path at all is `/`
    path = "prefix " + prefix;                     // an exact path starts with `/`, so the two never look alike
  }
  std::vector<std::string> headers;
  for (const auto& [name, value] : route.match.headers) headers.push_back(lower(name) + ":" + value);
  std::sort(headers.begin(), headers.end());
  std::string key = host + '\n' + path;
  for (const std::string& header : headers) key += '\n' + header;
  key += route.match.methods.empty() ? "\nany method" : "\nmethods";
  return key + (route.match.models.empty() ? "\nany model" : "\nmodels");
}

// Does `earlier` take every model that `later` would? Both lists are empty, or neither.
bool covers_models(const RouteConfig& earlier, const RouteConfig& later) {
  if (contains(earlier.match.models, "*")) return true;
  return std::all_of(later.match.models.begin(), later.match.models.end(),
                     [&](const std::string& model) { return contains(earlier.match.models, model); });
}

// The last of the earlier routes that together take all of `route`, or null when something is left for it.
const RouteConfig* hidden_by(const RouteConfig& route, const std::vector<const RouteConfig*>& group) {
  std::set<std::string> left(route.match.methods.begin(), route.match.methods.end());
  for (const RouteConfig* earlier : group) {
    if (!covers_models(*earlier, route)) continue;
    for (const std::string& method : earlier->match.methods) left.erase(method);
    if (left.empty()) return earlier;
  }
  return nullptr;
}

}  // namespace

void check_reachable(const Config& config, const Notes& notes, Problems& problems) {
  const std::vector<std::string> any_host{""};
  std::map<std::string, std::vector<const RouteConfig*>> groups;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const RouteConfig& route = config.routes[i];
    if (!notes.sound_routes[i]) continue;
    const auto& hosts = route.match.hosts.empty() ? any_host : route.match.hosts;
    for (const std::string& host : hosts) {
      auto& group = groups[group_of(route, host)];
      if (const RouteConfig* earlier = hidden_by(route, group)) {
        const std::string where = earlier->where.file + ":" + std::to_string(earlier->where.line);
        problems.add(route.where, "the route " + ticked(route.name) + " can never match" +
                                      (hosts.size() > 1 ? " for one of its hosts" : "") + ": the route " +
                                      ticked(earlier->name) + " at " + where + " takes the same requests before it");
      }
      group.push_back(&route);
    }
  }
}

}  // namespace brink::conf
