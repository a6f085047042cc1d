#include "proxy/cached/exact_run.hpp"

#include <charconv>

#include "cache/http/cache_status.hpp"
#include "cache/http/url.hpp"
#include "cache/inference/endpoint.hpp"
#include "cache/inference/scope.hpp"
#include "proxy/cached/exact_recipe.hpp"
#include "proxy/http/rules.hpp"

namespace brink::cached {

namespace inference = cache::inference;
using boost::intrusive_ptr;
using cache::EntryPtr;
using cache::http::CacheStatus;
using cache::http::Forward;
using http::CacheResult;
using http::ErrorKind;

namespace {

// Fields of the client's request that the cache's own request does not have: it has its own framing, and wants the
// answer without a coding.
bool is_left_out(const http::Field& field) {
  using http::FieldId;
  switch (field.id) {
    case FieldId::content_length:
    case FieldId::transfer_encoding:
    case FieldId::expect:
    case FieldId::accept_encoding:
    case FieldId::connection:
    case FieldId::keep_alive:
    case FieldId::te:
    case FieldId::trailer:
    case FieldId::content_encoding:  // it is decoded by now
      return true;
    default:
      return false;
  }
}

bool is_stream(const cache::Entry& entry) {
  const cache::Field* type = entry.find("content-type");
  return type != nullptr && type->value.substr(0, 17) == "text/event-stream";
}

}  // namespace

ExactRun::ExactRun(WorkerTiers& tiers, Forwarder& forwarder, http::Client& client, std::uint32_t route, Alone alone,
                   std::string path, upstream::BodyEdit edit)
    : CachedRun(tiers, forwarder, client, route, std::move(alone)), path_(std::move(path)), edit_(std::move(edit)) {}

void ExactRun::start() {
  const http::RequestHead& head = client_.exchange().head;
  directives_ = cache::http::request_directives(request_fields());
  const bool unknown = inference::endpoint_of(head.method_text, path_) == inference::Endpoint::other;
  if (unknown || directives_.no_store || head.has_upgrade ||
      (head.find(http::FieldId::content_encoding) != nullptr && !client_.exchange().body_decoded)) {
    return go_alone();
  }
  on_body();
}

// The key is of the whole body, so it is read first; what is read stays in the session for a request that goes on.
void ExactRun::on_body() {
  if (!collecting_) return;
  const intrusive_ptr<ExactRun> self(this);
  if (client_.body_complete()) {
    collecting_ = false;
    return look();
  }
  while (!client_.unseen_body().empty()) {
  }
  client_.want_body();
}

void ExactRun::look() {
  body_ = client_.whole_body();
  if (edit_.active()) body_.replace(edit_.begin, edit_.end - edit_.begin, edit_.replacement);
  const std::vector<cache::Field> fields = request_fields();
  const bool shared = config().scope == conf::CacheConfig::Scope::public_;
  const std::string scope = shared ? "public" : inference::scope_digest(fields);
  const http::Exchange& exchange = client_.exchange();
  std::string_view query = exchange.head.query;
  if (!query.empty()) query.remove_prefix(1);
  const auto when =
      config().when == conf::CacheConfig::When::always ? inference::When::always : inference::When::repeatable;
  keyed_ = tiers_.request_key.make(
      {exchange.head.method_text, path_, query, exchange.route->name, scope, fields, {}, body_}, when);
  if (keyed_.refused != nullptr) return go_alone();
  key_ = "exact\n" + keyed_.key;
  if (directives_.no_cache || (directives_.max_age && directives_.max_age->count() == 0)) return fetch();
  look_up(key_);
}

void ExactRun::found(EntryPtr entry) {
  const cache::WallTime now = wall_now();
  const bool usable = entry != nullptr && !entry->soft_purged && entry->freshness.ttl(now).count() > 0 &&
                      (!directives_.max_age || entry->freshness.age(now) <= *directives_.max_age);
  if (usable && serve(entry, true, false)) return;
  if (directives_.only_if_cached) {
    client_.exchange().cache = CacheResult::bypass;
    return client_.fail(ErrorKind::not_cached, {});
  }
  fetch();
}

// Streamed and plain requests do not follow each other: what they get on the way is not the same.
void ExactRun::fetch() { join(key_ + (keyed_.facts.stream ? (keyed_.facts.include_usage ? "\nu" : "\ns") : "\np")); }

bool ExactRun::serve(const EntryPtr& entry, bool hit, bool collapsed) {
  const inference::Form wanted{keyed_.facts.stream, keyed_.facts.include_usage};
  inference::Form stored{is_stream(*entry), false};
  if (stored.stream) stored.usage = inference::tells_usage(entry->body);
  const http::ResponseHead* head = &head_of(*entry);
  std::string_view body = entry->body;
  const bool fetched_as_is = !hit && stored.stream == wanted.stream;
  if (!(stored == wanted) && !fetched_as_is) {
    if (!keyed_.facts.convertible) return false;
    inference::Converted converted = inference::convert(keyed_.facts.endpoint, entry->body, stored, wanted);
    if (!converted.body) return false;
    own_body_ = std::move(*converted.body);
    std::string lines;
    for (const cache::Field& field : entry->fields) {
      if (!http::iequals(field.name, "content-type")) {
        lines.append(field.name).append(": ").append(field.value).append("\r\n");
      }
    }
    lines += wanted.stream ? "content-type: text/event-stream\r\n" : "content-type: application/json\r\n";
    own_head_ = StoredHead::make(entry->status, lines);
    if (own_head_ == nullptr) return false;
    own_head_->set_length(own_body_.size());
    head = &own_head_->head;
    body = own_body_;
  }
  const cache::WallTime now = wall_now();
  CacheStatus status;
  status.hit = hit;
  status.forward = Forward::uri_miss;
  status.stored = !hit;
  status.collapsed = collapsed;
  status.ttl = std::chrono::floor<std::chrono::seconds>(entry->freshness.ttl(now));
  client_.exchange().cache = hit ? CacheResult::hit : collapsed ? CacheResult::collapsed : CacheResult::miss;
  const auto age = std::chrono::floor<std::chrono::seconds>(entry->freshness.age(now));
  send(*head, "age: " + std::to_string(age.count()) + "\r\ncache-status: " + format_cache_status(status) + "\r\n", body,
       entry);
  return true;
}

void ExactRun::answer(const EntryPtr& entry, bool collapsed) {
  if (!serve(entry, false, collapsed)) go_alone();
}

std::unique_ptr<Recipe> ExactRun::recipe() {
  const http::Exchange& exchange = client_.exchange();
  return std::make_unique<ExactRecipe>(
      exchange, key_, cache::http::normal_url("http", exchange.head.authority, exchange.head.path), keyed_.facts);
}

Fetch::Order ExactRun::order() {
  const http::RequestHead& head = client_.exchange().head;
  Fetch::Order order;
  order.head.append(request_line(head));
  for (const http::Field& field : head.fields) {
    if (is_left_out(field) || (head.nominates && head.nominated(field.name))) continue;
    order.head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  order.head.append("content-length: ").append(std::to_string(body_.size())).append("\r\n\r\n");
  order.body = body_;
  order.max_object = config().max_object;
  return order;
}

std::string ExactRun::lines_for_fetched(bool collapsed, bool stored) {
  CacheStatus status;
  status.forward = directives_.no_cache ? Forward::request : Forward::uri_miss;
  status.stored = stored;
  status.collapsed = collapsed;
  return "cache-status: " + format_cache_status(status) + "\r\n";
}

}  // namespace brink::cached
