#include "router/route_table.hpp"

#include <algorithm>

#include "router/path_index.hpp"
#include "router/wildcard.hpp"

namespace brink::router {
namespace {

using conf::MatchConfig;
using conf::RouteConfig;

bool method_matches(const MatchConfig& match, std::string_view method) {
  return match.methods.empty() || std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
}

// The first header that does not match, or null.
const std::pair<std::string, std::string>* missing_header(const MatchConfig& match, const RequestView& request) {
  for (const auto& header : match.headers) {
    const auto value = request.find_field ? request.find_field(request.head, header.first) : std::nullopt;
    if (value != header.second) return &header;
  }
  return nullptr;
}

bool model_matches(const MatchConfig& match, std::string_view model) {
  return std::any_of(match.models.begin(), match.models.end(),
                     [&](const std::string& pattern) { return matches_wildcard(pattern, model); });
}

// "*.example.com" is kept as ".example.com"; it takes one or more labels before that.
std::string_view wildcard_suffix(std::string_view pattern) { return pattern.substr(1); }

bool host_matches(const MatchConfig& match, std::string_view host) {
  return match.hosts.empty() || std::any_of(match.hosts.begin(), match.hosts.end(), [&](std::string_view pattern) {
           if (!pattern.starts_with("*.")) return pattern == host;
           const std::string_view suffix = wildcard_suffix(pattern);
           return host.size() > suffix.size() && host.ends_with(suffix);
         });
}

bool path_matches(const MatchConfig& match, std::string_view path) {
  return match.path.empty() ? below(path, match.path_prefix) : path == match.path;
}

template <typename Texts>
std::string joined(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

struct RouteTable::Impl {
  const conf::Config& config;
  TextMap<PathIndex> exact;      // by host
  TextMap<PathIndex> wildcards;  // by suffix with its leading dot
  std::size_t longest_suffix = 0;
  PathIndex any;

  explicit Impl(const conf::Config& of) : config(of) {
    for (std::uint32_t i = 0; i < config.routes.size(); ++i) add(config.routes[i].match, i);
    for (auto* table : {&exact, &wildcards})
      for (auto& [host, index] : *table) index.sort(config.routes);
    any.sort(config.routes);
  }

  void add(const MatchConfig& match, std::uint32_t route) {
    if (match.hosts.empty()) any.add(match, route);
    for (const std::string_view host : match.hosts) {
      const bool wild = host.starts_with("*.");
      const std::string_view key = wild ? wildcard_suffix(host) : host;
      if (wild) longest_suffix = std::max(longest_suffix, key.size());
      (wild ? wildcards : exact)[std::string(key)].add(match, route);
    }
  }

  // Calls visitor(route index) for each route whose host and path match, in the order of precedence, until it returns
  // true. A route with several matching hosts may come twice.
  template <typename Visitor>
  bool visit(const RequestView& request, Visitor&& visitor) const {
    if (const auto found = exact.find(request.host); found != exact.end())
      if (found->second.visit(request.path, visitor)) return true;
    // From the left, so that the longest suffix comes first, but none longer than a configured one: a hostile host of
    // thousands of labels costs no more. A leading dot has no label before it.
    const std::string_view host = request.host;
    const std::size_t start = host.size() > longest_suffix ? std::max<std::size_t>(1, host.size() - longest_suffix) : 1;
    for (std::size_t dot = host.find('.', start); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
      const auto found = wildcards.find(host.substr(dot));
      if (found != wildcards.end() && found->second.visit(request.path, visitor)) return true;
    }
    return any.visit(request.path, visitor);
  }

  std::string allowed_methods(const RequestView& request) const {
    std::vector<std::string> methods;
    visit(request, [&](std::uint32_t index) {
      for (const std::string& method : config.routes[index].match.methods)
        if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
      return false;
    });
    return joined(methods);
  }

  std::string why_not(const MatchConfig& match, const RequestView& request) const;
};

RouteTable::RouteTable(const conf::Config& config) : impl_(std::make_unique<Impl>(config)) {}
RouteTable::~RouteTable() = default;

Match RouteTable::match(const RequestView& request) const {
  Match result;
  bool method_refused = false;
  bool method_accepted = false;
  impl_->visit(request, [&](std::uint32_t index) {
    const RouteConfig& route = impl_->config.routes[index];
    const bool accepted = method_matches(route.match, request.method);
    (accepted ? method_accepted : method_refused) = true;
    if (!accepted || missing_header(route.match, request)) return false;
    const bool any_model = route.match.models.empty();
    const bool ask = !any_model && request.model_state == RequestView::Model::unknown;
    if (!any_model && !ask) {
      if (request.model_state == RequestView::Model::absent || !model_matches(route.match, request.model)) return false;
    }
    result.kind = ask ? Match::Kind::needs_model : Match::Kind::route;
    result.route = &route;
    result.route_index = index;
    return true;
  });
  if (!result.route && method_refused && !method_accepted) {
    result.kind = Match::Kind::method_not_allowed;
    result.allow = impl_->allowed_methods(request);
  }
  return result;
}

std::string RouteTable::Impl::why_not(const MatchConfig& match, const RequestView& request) const {
  const std::string path(request.path);
  if (!host_matches(match, request.host))
    return "host " + std::string(request.host) + " is none of " + joined(match.hosts);
  if (!path_matches(match, request.path))
    return match.path.empty() ? "path " + path + " is not under " + match.path_prefix
                              : "path " + path + " is not " + match.path;
  if (!method_matches(match, request.method))
    return "method " + std::string(request.method) + " is none of " + joined(match.methods);
  if (const auto* header = missing_header(match, request))
    return "header " + header->first + " is not \"" + header->second + "\"";
  if (match.models.empty() || request.model_state == RequestView::Model::unknown) return {};
  if (request.model_state == RequestView::Model::absent)
    return "the body names no model, the route wants " + joined(match.models);
  if (!model_matches(match, request.model))
    return "model " + std::string(request.model) + " is none of " + joined(match.models);
  return {};
}

std::vector<std::string> RouteTable::explain(const RequestView& request) const {
  const Match taken = match(request);
  std::vector<std::string> lines;
  for (const RouteConfig& route : impl_->config.routes) {
    std::string line = route.name + ": ";
    const std::string reason = impl_->why_not(route.match, request);
    const bool unknown = !route.match.models.empty() && request.model_state == RequestView::Model::unknown;
    if (!reason.empty())
      line += "no: " + reason;
    else if (&route == taken.route)
      line += unknown ? "taken if the body's model is one of " + joined(route.match.models) : "taken";
    else
      line += "matches, but " + taken.route->name +
              (taken.kind == Match::Kind::needs_model ? " is asked first" : " goes first");
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace brink::router
