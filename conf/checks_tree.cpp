// The checks that need all files: what is missing, double, unresolved or out of reach.
#include <algorithm>
#include <map>

#include "conf/checks.hpp"

namespace brink::conf {
namespace {

std::string place(const Location& where) { return where.file + ":" + std::to_string(where.line); }

template <class Named>
void check_names(const std::vector<Named>& items, const char* what, Problems& problems) {
  std::map<std::string_view, const Named*> names;
  for (const Named& item : items) {
    if (item.name.empty()) continue;  // missing or wrong, and reported
    const auto [earlier, first] = names.emplace(item.name, &item);
    if (first) continue;
    problems.add(item.where, "duplicate " + std::string(what) + " " + ticked(item.name) + "; it stands at " +
                                 place(earlier->second->where) + " already");
  }
}

void check_listeners(const Config& config, const Notes& notes, Problems& problems) {
  std::map<std::pair<std::string, std::uint16_t>, Location> taken;
  for (std::size_t i = 0; i < config.listeners.size(); ++i) {
    const ListenerConfig& listener = config.listeners[i];
    const Location& where = notes.listeners[i];
    if (listener.host.empty() || listener.port == 0) continue;
    const auto [earlier, first] = taken.emplace(std::pair(listener.host, listener.port), where);
    if (!first) problems.add(where, "this address is taken by the listener at " + place(earlier->second) + " already");
    if (listener.host == config.admin.host && listener.port == config.admin.port) {
      problems.add(where, "this address is the admin API's already; see `admin.address`");
    }
  }
}

void check_references(const Config& config, const Notes& notes, Problems& problems) {
  std::vector<std::string_view> names;
  for (const ClusterConfig& cluster : config.clusters) names.push_back(cluster.name);
  std::sort(names.begin(), names.end());
  for (const Reference& reference : notes.references) {
    if (!reference.fallback_of.empty() && reference.cluster == local_model_name) continue;
    if (std::binary_search(names.begin(), names.end(), reference.cluster)) continue;
    problems.add(reference.where,
                 "there is no cluster " + ticked(reference.cluster) +
                     (names.empty() ? "; no cluster is defined" : did_you_mean(reference.cluster, names)));
  }
}

}  // namespace

void check_tree(const Config& config, const Notes& notes, const std::string& entry, bool complete, Problems& problems) {
  check_listeners(config, notes, problems);
  check_names(config.clusters, "cluster", problems);
  check_names(config.routes, "route", problems);
  check_reachable(config, notes, problems);
  auto may_miss = [&](const char* key) { return complete && notes.unread.count(key) == 0; };
  if (may_miss("clusters")) check_references(config, notes, problems);
  if (complete) check_fallbacks(config, notes, problems);
  if (config.listeners.empty() && may_miss("listeners")) {
    problems.add({entry, 1, 1}, "no listener; add `listeners: [{address: \"0.0.0.0:8080\"}]`");
  }
  if (config.routes.empty() && may_miss("routes")) {
    problems.add({entry, 1, 1}, "no route; add `routes:`, here or in an included file");
  }
}

}  // namespace brink::conf
