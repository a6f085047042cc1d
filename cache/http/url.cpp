#include "cache/http/url.hpp"

#include <algorithm>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

namespace {

// "scheme:" at its start, as RFC 3986 section 3.1 writes it; empty when there is none.
std::string_view scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || lower(text[0]) < 'a' || lower(text[0]) > 'z') return {};
  const std::string_view scheme = text.substr(0, colon);
  const auto fits = [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return std::all_of(scheme.begin(), scheme.end(), fits) ? scheme : std::string_view{};
}

struct Split {
  std::string_view authority, rest;  // of what follows "//"
};

Split split_authority(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  return {text.substr(0, end), text.substr(end)};
}

// Section 5.2.4, on an absolute path.
std::string without_dot_segments(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    if (segment == "/." || segment == "/..") {
      if (segment == "/..") result.resize(std::min(result.rfind('/'), result.size()));
      if (path.empty()) result += '/';
    } else {
      result += segment;
    }
  }
  return result;
}

std::string normal_path(std::string_view path_and_query) {
  const std::size_t query = std::min(path_and_query.find('?'), path_and_query.size());
  return without_dot_segments(path_and_query.substr(0, query)) + std::string(path_and_query.substr(query));
}

}  // namespace

std::string normal_url(std::string_view scheme, std::string_view host, std::string_view target) {
  std::string url = lower(scheme) + "://" + lower(host);
  const std::string_view own_port = same_text(scheme, "https") ? ":443" : ":80";
  if (host.ends_with(own_port)) url.resize(url.size() - own_port.size());
  if (host.ends_with(':')) url.pop_back();
  if (const std::size_t start = target.find("://"); !target.starts_with('/') && start != std::string_view::npos) {
    target = split_authority(target.substr(start + 3)).rest;
  }
  if (!target.starts_with('/')) url += '/';
  url += target;
  return url;
}

std::string resolve_same_origin(std::string_view base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  const std::string_view scheme = scheme_of(base);
  if (scheme.empty() || !base.substr(scheme.size()).starts_with("://")) return {};
  const auto [host, target] = split_authority(base.substr(scheme.size() + 3));
  std::string_view other = reference;
  if (const std::string_view own = scheme_of(reference); !own.empty()) {
    if (!same_text(own, scheme)) return {};
    other = reference.substr(own.size() + 1);
    if (!other.starts_with("//")) return {};
  }
  if (other.starts_with("//")) {
    const auto [other_host, rest] = split_authority(other.substr(2));
    const std::string url = normal_url(scheme, other_host, normal_path(rest));
    return url.starts_with(normal_url(scheme, host, "/")) ? url : std::string{};
  }
  if (other.empty()) return std::string(base);
  if (other.starts_with('/')) return normal_url(scheme, host, normal_path(other));
  const std::string_view path = target.substr(0, target.find('?'));
  if (other.starts_with('?')) return normal_url(scheme, host, std::string(path) + std::string(other));
  const std::string folder(path.substr(0, path.rfind('/') + 1));
  return normal_url(scheme, host, normal_path(folder + std::string(other)));
}

}  // namespace brink::cache::http
