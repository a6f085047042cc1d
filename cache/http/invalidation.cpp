#include "cache/http/invalidation.hpp"

#include <algorithm>
#include <array>

#include "cache/http/url.hpp"

namespace brink::cache::http {

bool is_safe(std::string_view method) {
  constexpr std::array<std::string_view, 8> methods = {"GET",      "HEAD",   "OPTIONS", "TRACE",
                                                       "PROPFIND", "REPORT", "SEARCH",  "QUERY"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

std::vector<std::string> invalidated_urls(const Request& request, const Response& response) {
  std::vector<std::string> urls;
  if (is_safe(request.method) || response.status < 200 || response.status >= 400) return urls;
  urls.emplace_back(request.url);
  for (const std::string_view name : {"location", "content-location"}) {
    const auto reference = first_value(response.fields, name);
    if (!reference) continue;
    std::string url = resolve_same_origin(request.url, *reference);
    if (!url.empty() && std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(std::move(url));
  }
  return urls;
}

}  // namespace brink::cache::http
