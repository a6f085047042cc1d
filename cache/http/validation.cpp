#include "cache/http/validation.hpp"

#include <algorithm>
#include <array>

#include "cache/http/dates.hpp"
#include "cache/http/freshness.hpp"
#include "cache/http/preconditions.hpp"
#include "cache/http/stored_fields.hpp"

namespace brink::cache::http {

namespace {

// Fields that say something about the stored bytes, which a response without a body must not change.
bool is_tied_to_body(std::string_view name) {
  constexpr std::array<std::string_view, 6> names = {"content-encoding", "content-length", "content-md5",
                                                     "content-digest",   "content-range",  "etag"};
  return std::any_of(names.begin(), names.end(), [&](std::string_view tied) { return same_text(tied, name); });
}

// The fields of `entry`, those of the new response in the place of their namesakes.
std::vector<Field> merged(const Entry& entry, Fields news) {
  std::vector<Field> result;
  for (const Field& field : entry.fields) {
    if (is_tied_to_body(field.name) || !contains(news, field.name)) result.push_back(field);
  }
  for (const Field& field : news) {
    if (!is_tied_to_body(field.name)) result.push_back(field);
  }
  return result;
}

boost::intrusive_ptr<Entry> copy_of(const Entry& entry) {
  boost::intrusive_ptr<Entry> copy(new Entry);
  copy->key = entry.key;
  copy->kind = entry.kind;
  copy->url = entry.url;
  copy->route = entry.route;
  copy->model = entry.model;
  copy->vary = entry.vary;
  copy->status = entry.status;
  copy->body = entry.body;
  copy->zstd = entry.zstd;
  return copy;
}

bool same_field(Fields news, const Entry& entry, std::string_view name) {
  return first_value(news, name).value_or("") == first_value(entry.fields, name).value_or("");
}

}  // namespace

bool is_selected_by(Fields not_modified, const Entry& entry) {
  if (const auto tag = first_value(not_modified, "etag")) {
    const auto stored = first_value(entry.fields, "etag");
    return stored && same_weakly(*tag, *stored);
  }
  return !contains(not_modified, "last-modified") || same_field(not_modified, entry, "last-modified");
}

Updated update(const Entry& entry, const Request& request, const Response& not_modified, const StoreOptions& options) {
  const ResponseDirectives directives = response_directives(not_modified.fields, options.targets);
  std::vector<Field> news = storable_fields(not_modified.fields, directives.withheld);
  // Without a Date of its own the new response is of now; with the stored Date it would be as old as the stored one.
  const std::string arrival = format_date(not_modified.response_time);
  if (!contains(news, "date")) news.push_back({"Date", arrival});
  if (!is_selected_by(not_modified.fields, entry)) {
    std::erase_if(news, [](const Field& field) { return !same_text(field.name, "date"); });
  }
  std::vector<Field> fields = merged(entry, news);
  std::erase_if(fields, [&](const Field& field) {
    return std::any_of(directives.withheld.begin(), directives.withheld.end(),
                       [&](const std::string& name) { return same_text(name, field.name); });
  });
  const boost::intrusive_ptr<Entry> result = copy_of(entry);
  result->head = head_text(fields);
  result->index_fields();
  // Age is of the new response and is not stored, but counts for its freshness.
  for (const Field& field : not_modified.fields) {
    if (same_text(field.name, "age")) fields.push_back(field);
  }
  const Response response{entry.status, fields, not_modified.request_time, not_modified.response_time};
  Storing storing = may_store({"GET", request.url, request.fields}, response, options);
  // Also one that may not be kept is sent once, with its age.
  if (!storing.store) storing.freshness = freshness_of(response, storing.directives, options.heuristic_limit);
  result->freshness = storing.freshness;
  result->useful_until = storing.useful_until;
  result->tags = storing.tags;
  return {result, std::move(storing)};
}

HeadEffect effect_of_head(const Response& head, const Entry& entry) {
  if (head.status != 200 || entry.status != 200) return HeadEffect::none;
  const auto length = first_value(head.fields, "content-length");
  if (length && *length != std::to_string(entry.body.size())) return HeadEffect::invalidate;
  HeadEffect effect = HeadEffect::none;
  for (const std::string_view name : {"etag", "last-modified"}) {
    if (!contains(head.fields, name)) continue;
    if (!same_field(head.fields, entry, name)) return HeadEffect::invalidate;
    effect = HeadEffect::update;
  }
  return effect;
}

}  // namespace brink::cache::http
