#include "proxy/explain.hpp"

#include <chrono>
#include <iostream>
#include <optional>
#include <string_view>

#include "proxy/explain_cache.hpp"
#include "proxy/http/head.hpp"
#include "proxy/rewriting.hpp"
#include "router/model_scanner.hpp"
#include "router/route_table.hpp"

namespace brink {
namespace {

using router::Match;
using router::RequestView;

// Writes the request as a client would send it, so that the parser on the data path judges it.
std::optional<std::string> request_text(const ExplainRequest& request) {
  std::string_view url = request.url;
  std::string_view host = "localhost";
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
    const std::size_t slash = url.find_first_of("/?");
    host = url.substr(0, slash);
    url = slash == std::string_view::npos ? std::string_view("/") : url.substr(slash);
  }
  std::string target(url);
  if (target.empty() || target.front() == '?') target.insert(0, "/");
  std::string text = request.method + " " + target + " HTTP/1.1\r\n";
  bool has_host = false;
  for (const std::string& header : request.headers) {
    if (header.find(':') == std::string::npos) {
      std::cerr << "brink explain: -H '" << header << "' is not of the form 'Name: value'\n";
      return std::nullopt;
    }
    has_host = has_host || (header.size() > 5 && (header.starts_with("Host:") || header.starts_with("host:")));
    text += header + "\r\n";
  }
  if (!has_host) text += "Host: " + std::string(host) + "\r\n";
  return text + "\r\n";
}

std::optional<std::string_view> find_field(const void* head, std::string_view name) {
  const http::Field* field = static_cast<const http::RequestHead*>(head)->find(name);
  if (field == nullptr) return std::nullopt;
  return field->value;
}

std::string milliseconds(conf::Duration duration) { return std::to_string(duration.count()) + "ms"; }

void print_route(const conf::Config& config, const conf::RouteConfig& route) {
  std::cout << "route     " << route.name << "   (" << route.where.file << ":" << route.where.line << ")\n";
  if (route.respond) {
    std::cout << "answer    " << route.respond->status << " made at the edge, " << route.respond->body.size()
              << " bytes\n";
    return;
  }
  for (const conf::SplitConfig& choice : route.clusters) {
    for (const conf::ClusterConfig& cluster : config.clusters) {
      if (cluster.name != choice.cluster) continue;
      std::cout << "cluster   " << cluster.name;
      if (route.clusters.size() > 1) std::cout << " (weight " << choice.weight << ")";
      std::cout << ":";
      for (const conf::EndpointConfig& endpoint : cluster.endpoints)
        std::cout << " " << endpoint.name() << "x" << endpoint.weight;
      std::cout << "\n";
    }
  }
  const auto& times = route.timeouts;
  std::cout << "timeouts  connect " << milliseconds(times.connect) << ", first_byte " << milliseconds(times.first_byte)
            << ", idle " << milliseconds(times.idle) << ", total " << milliseconds(times.total) << ", tunnel "
            << milliseconds(times.tunnel) << "\n";
  std::cout << "limits    body " << route.limits.body << " bytes\n";
  const auto& rewrite = route.rewrite;
  if (rewrite.path) std::cout << "rewrite   path to " << *rewrite.path << "\n";
  if (rewrite.path_prefix)
    std::cout << "rewrite   " << route.match.path_prefix << " to " << *rewrite.path_prefix << "\n";
  if (rewrite.model) std::cout << "rewrite   model to " << *rewrite.model << "\n";
  if (rewrite.host) std::cout << "rewrite   host to " << *rewrite.host << "\n";
  for (const auto& header : rewrite.set_headers) std::cout << "rewrite   set " << header.first << "\n";
  for (const auto& name : rewrite.remove_headers) std::cout << "rewrite   remove " << name << "\n";
}

void print_codings(const conf::RouteConfig& route) {
  if (route.compress) {
    std::cout << "compress ";
    for (const conf::Encoding encoding : route.compress->encodings) {
      std::cout << (encoding == conf::Encoding::zstd ? " zstd" : " gzip");
    }
    std::cout << ", level " << route.compress->level << ", from " << route.compress->min_size << " bytes on\n";
  }
  if (route.decompress_requests) std::cout << "decode    request bodies in zstd and gzip\n";
}

// What the request's body is once `edit` took place.
std::string edited(std::string body, const upstream::BodyEdit& edit) {
  if (edit.active()) body.replace(edit.begin, edit.end - edit.begin, edit.replacement);
  return body;
}

}  // namespace

int explain(const conf::Config& config, const ExplainRequest& request) {
  const std::optional<std::string> text = request_text(request);
  if (!text) return 2;
  http::RequestHead head;
  const http::ParseResult parsed = http::parse_request(*text, {}, head);
  if (parsed.error != http::HeadError::ok || parsed.size != text->size()) {
    std::cerr << "brink explain: the request is malformed: " << parsed.what << "\n";
    return 2;
  }
  router::ModelScanner scanner;
  scanner.feed(request.body);
  scanner.finish();
  const bool has_model = scanner.state() == router::ModelScanner::State::found;
  std::string host(head.host);
  for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  RequestView view;
  view.host = host;
  view.path = head.path;
  view.method = head.method_text;
  view.head = &head;
  view.find_field = &find_field;
  view.model_state = has_model ? RequestView::Model::known : RequestView::Model::absent;
  if (has_model) view.model = scanner.model();

  std::cout << "request   " << head.method_text << " " << head.path << head.query << ", host " << host
            << (has_model ? ", model " + scanner.model() : std::string(", no model")) << "\n";
  const router::RouteTable table(config);
  const Match match = table.match(view);
  const bool taken = match.kind == Match::Kind::route;
  if (taken) {
    print_route(config, *match.route);
    explain_cache(*match.route, head, rewritten_path(*match.route, head.path),
                  edited(request.body, model_edit(*match.route, &scanner)));
    print_codings(*match.route);
  }
  if (match.kind == Match::Kind::not_found) std::cout << "answer    404: no route takes it\n";
  if (match.kind == Match::Kind::method_not_allowed) std::cout << "answer    405: allowed are " << match.allow << "\n";
  std::cout << "why\n";
  for (const std::string& line : table.explain(view)) std::cout << "  " << line << "\n";
  return taken ? 0 : 1;
}

}  // namespace brink
