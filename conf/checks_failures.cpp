// The checks of the blocks of failure handling, and of fallbacks from cluster to cluster.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "conf/checks.hpp"

namespace brink::conf {
namespace {

// A default gives way to what was written; two written ones must agree.
void check_order(Scope& scope, const char* less, Duration& least, const char* more, Duration& most) {
  if (least <= most || scope.is_wrong(less) || scope.is_wrong(more)) return;
  if (scope.has(less) && scope.has(more)) {
    scope.problem(more, ticked(more) + " is shorter than " + ticked(less) + "; make it longer, or that one shorter");
  } else if (scope.has(less)) {
    most = least;
    scope.shown[more] = scope.shown[less];
  } else {
    least = most;
    scope.shown[less] = scope.shown[more];
  }
}

// Relative to the file that names it, and readable now rather than when it is needed.
void check_file(const Scope& scope, const char* key, std::string& path, int access_mode, const char* wrong) {
  path = (std::filesystem::path(scope.at(key).file).parent_path() / path).string();
  // What is shown can be loaded from anywhere; a path with a placeholder stays as it was written.
  nlohmann::ordered_json& shown = scope.shown[key];
  if (shown.is_string() && shown.get<std::string>().find("${") == std::string::npos) {
    shown = std::filesystem::absolute(path).lexically_normal().string();
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || access(path.c_str(), access_mode) != 0) {
    scope.problem(key, ticked(key) + ": " + wrong);
  }
}

const ClusterConfig* find_cluster(const Config& config, const std::string& name) {
  const auto found = std::find_if(config.clusters.begin(), config.clusters.end(),
                                  [&](const ClusterConfig& cluster) { return cluster.name == name; });
  return found == config.clusters.end() ? nullptr : &*found;
}

// Whether the fallbacks that begin at `start` lead back to it. Circles further on are those of other clusters.
bool in_circle(const Config& config, const ClusterConfig& start) {
  const ClusterConfig* at = find_cluster(config, start.fallback);
  for (std::size_t steps = 0; at != nullptr && steps <= config.clusters.size(); ++steps) {
    if (at == &start) return true;
    at = find_cluster(config, at->fallback);
  }
  return false;
}

}  // namespace

void check_outlier(Scope& scope, void* object) {
  auto& outlier = *static_cast<OutlierConfig*>(object);
  if (outlier.slow_factor == 1 && scope.has("slow_factor")) {
    scope.problem("slow_factor", "`slow_factor` of 1 would take out every second endpoint; write 2 or more, or 0");
  }
  check_order(scope, "eject_for", outlier.eject_for, "max_eject_for", outlier.max_eject_for);
}

void check_retry(Scope& scope, void* object) {
  auto& retry = *static_cast<RetryConfig*>(object);
  check_order(scope, "backoff", retry.backoff, "max_backoff", retry.max_backoff);
}

void check_local_model(Scope& scope, void* object) {
  auto& model = *static_cast<LocalModelConfig*>(object);
  if (scope.has("url")) {
    for (const char* key : {"threads", "parallel", "context", "queue", "nice", "cpus", "memory", "chat_template",
                            "program", "start_timeout"}) {
      if (scope.has(key)) scope.problem(key, ticked(key) + " is for `file` only; it has no effect beside `url`");
      scope.shown.erase(key);
    }
    return;
  }
  if (scope.has("file")) check_file(scope, "file", model.file, R_OK, "there is no such file, or it cannot be read");
  if (scope.has("program")) check_file(scope, "program", model.program, X_OK, "there is no such program");
}

void check_fallbacks(const Config& config, const Notes& notes, Problems& problems) {
  for (const Reference& reference : notes.references) {
    if (reference.fallback_of.empty()) continue;
    if (reference.cluster == local_model_name) {
      if (config.local_model || notes.unread.count(local_model_name) > 0) continue;
      problems.add(reference.where, "`fallback: local_model` needs the block `local_model` at the top level");
      continue;
    }
    const ClusterConfig* cluster = find_cluster(config, reference.fallback_of);
    if (cluster == nullptr || !in_circle(config, *cluster)) continue;
    const bool itself = reference.cluster == reference.fallback_of;
    problems.add(reference.where,
                 "the fallback of the cluster " + ticked(reference.fallback_of) +
                     (itself ? " is itself" : " leads back to it, by way of " + ticked(reference.cluster)));
  }
}

}  // namespace brink::conf
