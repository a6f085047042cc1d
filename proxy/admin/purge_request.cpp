#include "proxy/admin/purge_request.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cache/http/fields.hpp"
#include "cache/http/url.hpp"

namespace brink::admin {
namespace {

using cache::Purge;
using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Purge::Kind>, 5> kinds = {{{"url", Purge::Kind::url},
                                                                            {"tag", Purge::Kind::tag},
                                                                            {"route", Purge::Kind::route},
                                                                            {"model", Purge::Kind::model},
                                                                            {"all", Purge::Kind::all}}};
// What goes to other nodes has a limit too (cache::max_purge_text), its own words included.
constexpr std::size_t max_text = cache::max_purge_text - 128;
constexpr std::string_view form =
    R"(the body is JSON: one of {"url":"…"}, {"tag":"…"}, {"route":"…"}, {"model":"…"} and {"all":true}, and with it )"
    R"("soft":true to keep what it names as stale)";

// The object, or null and a problem. A member that comes twice could hide what the sender meant.
json read_object(std::string_view body, std::string& problem) {
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  json object = json::parse(body, watch, false);
  if (object.is_discarded() || !object.is_object()) {
    problem = form;
  } else if (!twice.empty()) {
    problem = "`" + twice + "` stands there twice";
  }
  return object;
}

void take_kind(PurgeRequest& request, Purge::Kind kind, std::string_view name, const json& value) {
  request.what.kind = kind;
  if (kind == Purge::Kind::all) {
    if (value != true) request.problem = "`all` can only be true";
    return;
  }
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    request.problem = "`" + std::string(name) + "` must be a text that is not empty";
    return;
  }
  request.what.text = value.get<std::string>();
  if (kind == Purge::Kind::url) request.what.text = normal_purge_url(request.what.text, request.problem);
  if (request.what.text.size() > max_text) request.problem = "`" + std::string(name) + "` is too long";
}

}  // namespace

PurgeRequest read_purge_request(std::string_view body) {
  PurgeRequest request;
  const json object = read_object(body, request.problem);
  if (!request.problem.empty()) return request;
  std::string kind_name;
  for (const auto& [name, value] : object.items()) {
    if (name == "soft") {
      if (!value.is_boolean()) request.problem = "`soft` must be true or false";
      if (value.is_boolean()) request.soft = value.get<bool>();
    } else {
      const auto* kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& it) { return it.first == name; });
      if (kind == kinds.end()) {
        request.problem = "unknown member `" + name + "`; " + std::string(form);
      } else if (!kind_name.empty()) {
        request.problem = "`" + kind_name + "` and `" + name + "` exclude each other: one purge names one thing";
      } else {
        kind_name = name;
        take_kind(request, kind->second, name, value);
      }
    }
    if (!request.problem.empty()) return request;
  }
  if (kind_name.empty()) request.problem = form;
  return request;
}

std::string normal_purge_url(std::string_view url, std::string& problem) {
  const std::size_t colon = url.find("://");
  const std::string scheme = cache::http::lower(url.substr(0, colon));
  if (colon == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    problem = "`url` must be whole, as in http://host/path?query";
    return {};
  }
  const std::string_view after = url.substr(colon + 3);
  const std::size_t end = std::min(after.find_first_of("/?#"), after.size());
  const std::string_view host = after.substr(0, end);
  const std::string_view target = after.substr(end);
  const bool odd = std::any_of(url.begin(), url.end(), [](char c) { return (c >= 0 && c <= ' ') || c == 0x7f; });
  if (host.empty() || host.starts_with(':')) problem = "`url` has no host";
  if (host.find('@') != std::string_view::npos) problem = "`url` names a user, which no request does";
  if (url.find('#') != std::string_view::npos) problem = "`url` has a fragment, which no request has";
  if (odd) problem = "`url` has a space or a control character";
  if (!problem.empty()) return {};
  const std::string known = cache::http::normal_url(scheme, host, target);
  if (scheme == "http") return known;
  // Clients of a TLS end in front name port 443 or none in Host; entries know them under http.
  const std::string_view rest = std::string_view(known).substr(scheme.size() + 3);
  const std::size_t path = rest.find('/');
  return cache::http::normal_url("http", rest.substr(0, path), rest.substr(path));
}

}  // namespace brink::admin
