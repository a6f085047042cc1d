#include "cache/http/cache_control.hpp"

#include <array>

#include "cache/http/dictionary.hpp"

namespace brink::cache::http {

namespace {

struct Directive {
  std::string name;  // lower case
  std::optional<std::string> value;
  bool well_formed = true;  // no space around '=', nothing after the value
};

// The text of a quoted string, or nothing when it does not end at the end of `text`.
std::optional<std::string> unquote(std::string_view text) {
  std::string result;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1 == text.size() ? std::optional(result) : std::nullopt;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    result += text[at];
  }
  return std::nullopt;
}

// The name is what starts `member`, whatever follows: "no-store; x" still forbids to store.
Directive read_directive(std::string_view member) {
  std::size_t end = 0;
  while (end < member.size() && is_token_char(member[end])) ++end;
  Directive result{lower(member.substr(0, end)), std::nullopt};
  const std::string_view rest = member.substr(end);
  if (rest.empty()) return result;
  const std::string_view after = trim(rest);
  result.well_formed = rest.front() == '=' && trim(rest.substr(1)) == rest.substr(1);
  if (after.front() != '=') return result;
  const std::string_view value = trim(after.substr(1));
  if (value.empty() || value.front() != '"') {
    result.value = std::string(value);
  } else {
    result.value = unquote(value);
    result.well_formed = result.well_formed && result.value;
  }
  return result;
}

// An age that cannot be read is 0: the response counts as stale, the client as wanting a new one (section 4.2.1).
void take_age(const Directive& directive, std::optional<Duration>& age) {
  if (age) return;
  age = Duration{};
  if (directive.well_formed && directive.value) age = parse_delta_seconds(*directive.value).value_or(Duration{});
}

// no-cache and private: with field names they speak of those fields, else of the whole response.
void take_scope(const Directive& directive, bool& whole, std::vector<std::string>& withheld) {
  bool named = false;
  if (directive.well_formed && directive.value) {
    for_each_member(*directive.value, [&](std::string_view name) {
      withheld.push_back(lower(name));
      named = true;
    });
  }
  if (!named) whole = true;
}

void take(const Directive& directive, ResponseDirectives& result) {
  const std::string_view name = directive.name;
  if (name == "no-store") result.no_store = true;
  if (name == "no-cache") take_scope(directive, result.no_cache, result.withheld);
  if (name == "private") take_scope(directive, result.is_private, result.withheld);
  if (name == "public") result.is_public = result.is_public || (directive.well_formed && !directive.value);
  if (name == "must-revalidate") result.must_revalidate = true;
  if (name == "proxy-revalidate") result.proxy_revalidate = true;
  if (name == "must-understand") result.must_understand = true;
  if (name == "max-age") take_age(directive, result.max_age);
  if (name == "s-maxage") take_age(directive, result.s_maxage);
  if (name == "stale-while-revalidate") take_age(directive, result.stale_while_revalidate);
  if (name == "stale-if-error") take_age(directive, result.stale_if_error);
}

void take(const Directive& directive, RequestDirectives& result) {
  const std::string_view name = directive.name;
  if (name == "no-store") result.no_store = true;
  if (name == "no-cache") result.no_cache = true;
  if (name == "only-if-cached") result.only_if_cached = true;
  if (name == "max-age") take_age(directive, result.max_age);
  if (name == "min-fresh") take_age(directive, result.min_fresh);
  if (name == "stale-if-error") take_age(directive, result.stale_if_error);
  if (name == "max-stale" && !result.max_stale) {
    if (directive.value || !directive.well_formed)
      take_age(directive, result.max_stale);
    else
      result.max_stale = Duration::max();
  }
}

// A value of the wrong type (RFC 9213 section 2.1) is as a malformed one of Cache-Control: an age of 0, no permission.
Directive from_member(const DictionaryMember& member) {
  Directive result{member.name, std::nullopt};
  using Kind = DictionaryMember::Kind;
  const bool takes_names = member.name == "no-cache" || member.name == "private";
  if (member.kind == (takes_names ? Kind::string : Kind::integer))
    result.value = member.text;
  else
    result.well_formed = member.kind == Kind::yes;
  return result;
}

}  // namespace

std::span<const std::string> default_targets() {
  static const std::array<std::string, 2> names = {"brink-cache-control", "cdn-cache-control"};
  return names;
}

ResponseDirectives response_directives(Fields response, std::span<const std::string> targets) {
  for (const std::string& target : targets) {
    const auto members = parse_dictionary(response, target);
    if (!members || members->empty()) continue;
    ResponseDirectives result;
    result.targeted = true;
    for (const DictionaryMember& member : *members) {
      if (member.kind != DictionaryMember::Kind::no) take(from_member(member), result);
    }
    return result;
  }
  ResponseDirectives result;
  for_each_member(response, "cache-control", [&](std::string_view member) { take(read_directive(member), result); });
  return result;
}

RequestDirectives request_directives(Fields request) {
  RequestDirectives result;
  if (contains(request, "cache-control")) {
    for_each_member(request, "cache-control", [&](std::string_view member) { take(read_directive(member), result); });
  } else {
    for_each_member(request, "pragma", [&](std::string_view member) {
      if (read_directive(member).name == "no-cache") result.no_cache = true;
    });
  }
  return result;
}

}  // namespace brink::cache::http
