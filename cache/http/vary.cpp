#include "cache/http/vary.hpp"

#include <algorithm>

namespace brink::cache::http {

namespace {

// "en ; Q=0.50" → "en;q=0.5". A quality of 1 is what there is without it.
std::string normal_preference(std::string_view member) {
  std::string text;
  for (const char c : member) {
    if (c != ' ' && c != '\t') text += lower(c);
  }
  const std::size_t quality = text.rfind(";q=");
  if (quality == std::string::npos) return text;
  if (text.find('.', quality) != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  if (text.compare(quality, std::string::npos, ";q=1") == 0) text.resize(quality);
  return text;
}

// Nothing when the request has no such field.
std::optional<std::string> selecting_value(std::string_view name, Fields request) {
  if (!contains(request, name)) return std::nullopt;
  const bool preferences = name == "accept-encoding" || name == "accept-language";
  std::vector<std::string> members;
  for_each_member(request, name, [&](std::string_view member) {
    members.push_back(preferences ? normal_preference(member) : std::string(member));
  });
  if (preferences) std::sort(members.begin(), members.end());
  std::string joined;
  for (const std::string& member : members) {
    if (!joined.empty()) joined += ',';
    joined += member;
  }
  return joined;
}

void append_part(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

}  // namespace

std::optional<std::vector<std::string>> vary_names(Fields response) {
  std::vector<std::string> names;
  bool any = false;
  for_each_member(response, "vary", [&](std::string_view name) {
    any = any || name == "*";
    names.push_back(lower(name));
  });
  if (any) return std::nullopt;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string vary_key(std::span<const std::string> names, Fields request) {
  std::string key;
  for (const std::string& name : names) {
    append_part(key, name);
    const auto value = selecting_value(name, request);
    if (value)
      append_part(key, *value);
    else
      key += '-';
  }
  return key;
}

}  // namespace brink::cache::http
