#include "cache/http/stored_fields.hpp"

#include <algorithm>
#include <array>

#include "cache/http/dates.hpp"

namespace brink::cache::http {

namespace {

bool is_framing(std::string_view name) {
  return same_text(name, "content-length") || same_text(name, "trailer") || same_text(name, "transfer-encoding");
}

bool is_safe_line(const Field& field) {
  const auto is_control = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; };
  return !field.name.empty() && std::all_of(field.name.begin(), field.name.end(), is_token_char) &&
         std::none_of(field.value.begin(), field.value.end(), is_control);
}

bool is_listed(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& listed) { return same_text(listed, name); });
}

}  // namespace

bool is_hop_by_hop(std::string_view name) {
  constexpr std::array<std::string_view, 10> names = {"connection",
                                                      "keep-alive",
                                                      "proxy-authenticate",
                                                      "proxy-authentication-info",
                                                      "proxy-authorization",
                                                      "proxy-connection",
                                                      "te",
                                                      "transfer-encoding",
                                                      "upgrade",
                                                      "http2-settings"};
  return std::any_of(names.begin(), names.end(), [&](std::string_view hop) { return same_text(hop, name); });
}

std::vector<Field> storable_fields(Fields response, const std::vector<std::string>& withheld) {
  std::vector<std::string> left_out = withheld;
  for_each_member(response, "connection", [&](std::string_view name) { left_out.push_back(lower(name)); });
  std::vector<Field> result;
  for (const Field& field : response) {
    if (is_hop_by_hop(field.name) || is_framing(field.name) || same_text(field.name, "age") ||
        is_listed(left_out, field.name) || !is_safe_line(field)) {
      continue;
    }
    result.push_back({field.name, trim(field.value)});
  }
  return result;
}

std::string head_text(Fields fields) {
  std::string head;
  for (const Field& field : fields) {
    head += field.name;
    head += ": ";
    head += field.value;
    head += "\r\n";
  }
  return head;
}

std::string stored_head(const Response& response, const ResponseDirectives& directives) {
  const std::vector<Field> kept = storable_fields(response.fields, directives.withheld);
  std::string head = head_text(kept);
  if (!contains(kept, "date")) head += "Date: " + format_date(response.response_time) + "\r\n";
  return head;
}

std::vector<std::string> response_tags(Fields response) {
  std::vector<std::string> tags;
  for (const Field& field : response) {
    if (!same_text(field.name, "surrogate-key") && !same_text(field.name, "cache-tag")) continue;
    std::string_view left = field.value;
    while (!left.empty()) {
      const std::size_t end = std::min(left.find_first_of(" ,\t"), left.size());
      if (end > 0) tags.emplace_back(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  return tags;
}

}  // namespace brink::cache::http
