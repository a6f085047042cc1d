#include "proxy/explain_cache.hpp"

#include <iostream>
#include <string_view>
#include <vector>

#include "cache/http/cache_control.hpp"
#include "cache/http/url.hpp"
#include "cache/http/using.hpp"
#include "cache/inference/request_key.hpp"
#include "cache/inference/scope.hpp"

namespace brink {
namespace {

namespace inference = cache::inference;
using cache::http::Forward;

std::string milliseconds(conf::Duration duration) { return std::to_string(duration.count()) + "ms"; }

void print_policy(const conf::CacheConfig& config) {
  const bool exact = config.mode == conf::CacheMode::exact;
  std::cout << "cache     mode " << (exact ? "exact" : "http") << ", ttl ";
  if (exact || config.ttl.count() > 0) {
    std::cout << milliseconds(config.ttl) << (exact ? "" : " where a response does not say");
  } else {
    std::cout << "as responses say, else guessed by RFC 9111";
  }
  if (exact) {
    const bool shared = config.scope == conf::CacheConfig::Scope::public_;
    const bool always = config.when == conf::CacheConfig::When::always;
    std::cout << ", scope " << (shared ? "public (all clients share)" : "credential (clients with the same one share)")
              << ", when " << (always ? "always" : "repeatable");
  }
  std::cout << ", max_object " << config.max_object << " bytes, coalesce ";
  if (config.coalesce) {
    std::cout << "with at most " << config.followers << " followers\n";
  } else {
    std::cout << "off\n";
  }
}

// Why a request goes past the HTTP cache, or nullptr.
const char* past_http_cache(const http::RequestHead& head, const cache::http::Request& request) {
  if (head.framing != http::Framing::none) return "it has a body";
  if (head.has_upgrade) return "it asks for another protocol";
  const cache::http::Decision decision = cache::http::without_entry(request);
  if (decision.use != cache::http::Use::bypass) return nullptr;
  switch (decision.forward) {
    case Forward::method:
      return "only GET and HEAD are answered from the cache";
    case Forward::request:
      return "it says no-store";
    default:
      return "only the backend can judge If-Match and If-Unmodified-Since";
  }
}

void print_http_key(const http::RequestHead& head, const std::vector<cache::Field>& fields) {
  const std::string url = cache::http::normal_url("http", head.authority, std::string(head.path).append(head.query));
  if (const char* why = past_http_cache(head, {head.method_text, url, fields})) {
    std::cout << "          this request goes past it: " << why << "\n";
    return;
  }
  std::cout << "key       " << url << ", and what the request says in the fields that a response's Vary names\n";
}

void print_exact_key(const conf::RouteConfig& route, const http::RequestHead& head, const std::string& path,
                     const std::string& body, const std::vector<cache::Field>& fields) {
  const auto past = [](std::string_view why) { std::cout << "          this request goes past it: " << why << "\n"; };
  if (inference::endpoint_of(head.method_text, path) == inference::Endpoint::other) {
    return past("the endpoint is not known to the cache");
  }
  if (cache::http::request_directives(fields).no_store) return past("it says no-store");
  if (head.has_upgrade) return past("it asks for another protocol");
  if (head.find(http::FieldId::content_encoding) != nullptr) {
    return past("its body has a content coding; with decompress_requests the decoded one counts, give that");
  }
  if (body.empty()) {
    std::cout << "key       give the body with --body to see it\n";
    return;
  }
  const bool shared = route.cache.scope == conf::CacheConfig::Scope::public_;
  const std::string scope = shared ? "public" : inference::scope_digest(fields);
  const auto when =
      route.cache.when == conf::CacheConfig::When::always ? inference::When::always : inference::When::repeatable;
  const std::string_view query = head.query.empty() ? head.query : head.query.substr(1);
  inference::RequestKey maker;
  const inference::Keyed keyed = maker.make({head.method_text, path, query, route.name, scope, fields, {}, body}, when);
  if (keyed.refused != nullptr) return past(keyed.refused);
  std::cout << "key       " << keyed.key << ": eligible" << (keyed.facts.stream ? ", streamed" : "") << "\n";
}

}  // namespace

void explain_cache(const conf::RouteConfig& route, const http::RequestHead& head, const std::string& path,
                   const std::string& body) {
  if (route.cache.mode == conf::CacheMode::off) return;
  print_policy(route.cache);
  std::vector<cache::Field> fields;
  for (const http::Field& field : head.fields) fields.push_back({field.name, field.value});
  if (route.cache.mode == conf::CacheMode::http) {
    print_http_key(head, fields);
  } else {
    print_exact_key(route, head, path, body, fields);
  }
}

}  // namespace brink
