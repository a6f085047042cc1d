#include "proxy/cached/exact_recipe.hpp"

#include "cache/http/cache_control.hpp"
#include "cache/http/stored_fields.hpp"
#include "proxy/cached/stored_head.hpp"
#include "proxy/cached/tiers.hpp"
#include "proxy/http/rules.hpp"

namespace brink::cached {

namespace inference = cache::inference;
using boost::intrusive_ptr;

namespace {

// What was said of one call and not of its answer: rates, times, whose cookie.
bool is_of_one_call(std::string_view name) {
  for (const std::string_view one : {"set-cookie", "retry-after", "openai-processing-ms", "server-timing",
                                     "x-request-id", "request-id", "cf-ray", "strict-transport-security"}) {
    if (http::iequals(name, one)) return true;
  }
  for (const std::string_view start : {"x-ratelimit-", "ratelimit", "anthropic-ratelimit-", "x-envoy-", "x-brink-"}) {
    if (name.size() >= start.size() && http::iequals(name.substr(0, start.size()), start)) return true;
  }
  return false;
}

}  // namespace

ExactRecipe::ExactRecipe(const http::Exchange& cause, std::string key, std::string url, const inference::Facts& facts)
    : key_(std::move(key)), url_(std::move(url)), route_(*cause.route), facts_(facts), config_(route_.cache) {}

Recipe::Opened ExactRecipe::on_head(const http::ResponseHead& head) {
  std::vector<cache::Field> fields;
  std::string_view type;
  for (const http::Field& field : head.fields) {
    if (!is_of_one_call(field.name)) fields.push_back({field.name, field.value});
    if (field.id == http::FieldId::content_type) type = field.value.substr(0, field.value.find(';'));
  }
  while (type.ends_with(' ')) type.remove_suffix(1);
  Opened opened;
  const bool stream = http::iequals(type, "text/event-stream");
  const cache::http::ResponseDirectives said = cache::http::response_directives(fields, cache::http::default_targets());
  if (head.status != 200) {
    opened.reason = "the status is not 200";
  } else if (!stream && !http::iequals(type, "application/json")) {
    opened.reason = "neither JSON nor an event stream";
  } else if (stream != facts_.stream) {
    opened.reason = "not the form that was asked for";
  } else if (head.find(http::FieldId::content_encoding) != nullptr) {
    opened.reason = "it has a content coding";
  } else if (said.no_store || (said.is_private && config_.scope == conf::CacheConfig::Scope::public_)) {
    opened.reason = "the backend forbids it";
  }
  if (*opened.reason != '\0') return opened;
  opened.store = true;
  entry_ = intrusive_ptr<cache::Entry>(new cache::Entry);
  entry_->key = key_;
  entry_->status = 200;
  entry_->url = url_;
  entry_->route = route_.name;
  entry_->model = facts_.model;
  entry_->tags = cache::http::response_tags(fields);
  entry_->head = cache::http::head_text(cache::http::storable_fields(fields, {}));
  opened.lines = entry_->head;
  if (stream) recorder_.emplace(facts_.endpoint, facts_.choices, config_.max_object);
  return opened;
}

bool ExactRecipe::on_piece(std::string_view piece) {
  using State = inference::StreamRecorder::State;
  if (!recorder_) return true;
  const State state = recorder_->feed(piece);
  return state == State::open || state == State::complete;
}

std::vector<cache::EntryPtr> ExactRecipe::make(std::string body) {
  const bool whole = recorder_ ? recorder_->finish() == inference::StreamRecorder::State::complete
                               : inference::plain_refused(facts_.endpoint, facts_.choices, 200, body) == nullptr;
  if (!whole) return {};
  entry_->body = std::move(body);
  entry_->freshness.response_time = wall_now();
  entry_->freshness.lifetime = config_.ttl;
  entry_->useful_until = entry_->freshness.response_time + config_.ttl;
  entry_->index_fields();
  add_zstd(*entry_, route_);
  if (!attach_head(*entry_)) return {};
  return {entry_};
}

}  // namespace brink::cached
