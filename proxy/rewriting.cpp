#include "proxy/rewriting.hpp"

#include <algorithm>

#include "proxy/http/local_reply.hpp"

namespace brink {

std::string rewritten_path(const conf::RouteConfig& route, std::string_view path) {
  if (route.rewrite.path) return *route.rewrite.path;
  if (!route.rewrite.path_prefix) return std::string(path);
  std::string_view prefix = route.match.path_prefix;
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.remove_suffix(1);
  std::string_view rest = path.substr(std::min(prefix.size(), path.size()));
  std::string result = *route.rewrite.path_prefix;
  while (!result.empty() && result.back() == '/') result.pop_back();
  while (rest.starts_with("//")) rest.remove_prefix(1);
  if (!rest.empty() && rest.front() != '/') result += '/';
  result += rest;
  return result.empty() ? "/" : result;
}

upstream::BodyEdit model_edit(const conf::RouteConfig& route, const router::ModelScanner* scanner) {
  upstream::BodyEdit edit;
  if (!route.rewrite.model || scanner == nullptr || scanner->state() != router::ModelScanner::State::found) return edit;
  edit.begin = scanner->value_begin();
  edit.end = scanner->value_end();
  edit.replacement = '"';
  http::append_json_escaped(edit.replacement, *route.rewrite.model);
  edit.replacement += '"';
  return edit;
}

}  // namespace brink
