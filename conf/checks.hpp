// The checks that look at more than one value: of one block (called by the reader through the key table) and of the
// whole tree. Control thread only.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conf/problems.hpp"
#include "conf/schema.hpp"

namespace brink::conf {

// A cluster's name where a route or another cluster uses it; resolved when all files are read.
struct Reference {
  std::string cluster;
  Location where;
  std::string fallback_of = {};  // the cluster whose `fallback` it is; empty: a route's
};

// What a cluster's `fallback` may name besides clusters; no cluster has this name.
inline constexpr const char* local_model_name = "local_model";

// What a block's check may see besides the object itself.
struct Scope {
  Problems& problems;
  std::vector<Reference>& references;
  nlohmann::ordered_json& shown;                                // the block as it will be displayed
  const std::map<std::string, Location, std::less<>>& written;  // values in the file that are right by themselves
  const std::set<std::string, std::less<>>& wrong;              // keys whose value is wrong and reported
  Location where;                                               // of the block

  bool has(std::string_view key) const { return written.find(key) != written.end(); }
  bool is_wrong(std::string_view key) const { return wrong.find(key) != wrong.end(); }
  Location at(std::string_view key) const;  // of the key's value, else of the block
  void problem(std::string_view key, std::string message) const { problems.add(at(key), std::move(message)); }
};

void check_node(Scope& scope, void* object);
void check_health_check(Scope& scope, void* object);
void check_cluster(Scope& scope, void* object);
void check_split(Scope& scope, void* object);
void check_respond(Scope& scope, void* object);
void check_rewrite(Scope& scope, void* object);
void check_timeouts(Scope& scope, void* object);
void check_route(Scope& scope, void* object);
void check_redis(Scope& scope, void* object);
void check_route_cache(Scope& scope, void* object);
void check_outlier(Scope& scope, void* object);
void check_retry(Scope& scope, void* object);
void check_local_model(Scope& scope, void* object);

// What the reader noted beside the tree itself, for the checks that need all files.
struct Notes {
  std::vector<Reference> references;
  std::vector<Location> listeners;            // one for each of Config::listeners
  std::vector<bool> sound_routes;             // one for each of Config::routes: read without a problem
  std::set<std::string, std::less<>> unread;  // top-level keys whose value is not even of the right type
};

// Duplicate names and addresses, references to clusters that do not exist, routes that never match, and what is
// missing. `entry` is the first file, where something that is missing altogether is reported. Without `complete` some
// file was not read, so nothing counts as missing.
void check_tree(const Config& config, const Notes& notes, const std::string& entry, bool complete, Problems& problems);

// Fallbacks that lead in a circle, or to a local model that is not there. Part of check_tree.
void check_fallbacks(const Config& config, const Notes& notes, Problems& problems);

// Sound routes for which earlier routes take every request that they would match. Part of check_tree.
void check_reachable(const Config& config, const Notes& notes, Problems& problems);

}  // namespace brink::conf
