#include "proxy/cached/http_run.hpp"

#include "cache/http/invalidation.hpp"
#include "cache/http/preconditions.hpp"
#include "cache/http/ranges.hpp"
#include "cache/http/stored_fields.hpp"
#include "cache/http/url.hpp"
#include "cache/http/vary.hpp"
#include "proxy/cached/http_recipe.hpp"
#include "proxy/http/rules.hpp"

namespace brink::cached {

namespace rules = cache::http;
using cache::EntryPtr;
using http::CacheResult;
using http::ErrorKind;
using rules::CacheStatus;
using rules::Forward;
using rules::Use;

namespace {

std::string url_of(const http::RequestHead& head) {
  return rules::normal_url("http", head.authority, std::string(head.path).append(head.query));
}

std::string primary_key(const conf::RouteConfig& route, std::string_view url) {
  return std::string("http\n").append(route.name).append("\n").append(url);
}

// The head of a part of an answer, or of one without its body: some of its fields, another status.
std::unique_ptr<StoredHead> partial_head(const cache::Entry& entry, unsigned status, std::string_view more,
                                         bool (*keep)(std::string_view name, const cache::Entry& entry)) {
  std::string lines;
  for (const cache::Field& field : entry.fields) {
    if (keep != nullptr && !keep(field.name, entry)) continue;
    lines.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  return StoredHead::make(status, lines.append(more));
}

std::string lines_of(const CacheStatus& status) {
  return "cache-status: " + rules::format_cache_status(status) + "\r\n";
}

}  // namespace

rules::Request HttpRun::request() const { return {client_.exchange().head.method_text, url_, fields_}; }

void HttpRun::start() {
  const http::RequestHead& head = client_.exchange().head;
  url_ = url_of(head);
  fields_ = request_fields();
  const rules::Decision decision = rules::without_entry(request());
  if (decision.use == Use::bypass || head.framing != http::Framing::none || head.has_upgrade) return go_alone();
  primary_ = primary_key(*client_.exchange().route, url_);
  look_up(primary_);
}

void HttpRun::found(EntryPtr entry) {
  if (entry == nullptr) {
    if (!candidates_.empty()) {
      const std::string next = std::move(candidates_.back());
      candidates_.pop_back();
      return look_up(next);
    }
    return nothing_stored(looking_at_variants_ ? Forward::vary_miss : Forward::uri_miss);
  }
  if (entry->kind == cache::Entry::Kind::response) return decide(entry);
  if (looking_at_variants_) return nothing_stored(Forward::vary_miss);  // nobody stores a list under such a key
  looking_at_variants_ = true;
  for (auto names = entry->vary.rbegin(); names != entry->vary.rend(); ++names) {
    candidates_.push_back(primary_ + "\n" + rules::vary_key(*names, fields_));
  }
  if (!candidates_.empty()) newest_variant_ = candidates_.back();
  found(nullptr);
}

void HttpRun::look_again() {
  candidates_.clear();
  looking_at_variants_ = false;
  newest_variant_.clear();
  stale_.reset();
  look_up(primary_);
}

void HttpRun::decide(const EntryPtr& entry) {
  const rules::Decision decision = rules::decide(request(), *entry, wall_now());
  forward_ = decision.forward;
  switch (decision.use) {
    case Use::serve:
    case Use::serve_and_refresh: {
      CacheStatus status;
      status.hit = true;
      if (decision.use == Use::serve_and_refresh) {
        stale_ = entry;
        fetch_in_background(flight_key());
      }
      const bool stale = entry->freshness.ttl(wall_now()).count() < 0 || entry->soft_purged;
      client_.exchange().cache = stale ? CacheResult::stale : CacheResult::hit;
      return serve(entry, status);
    }
    case Use::validate:
      stale_ = entry;
      return fetch();
    case Use::fetch:
      return fetch();
    case Use::bypass:
      return go_alone();
    case Use::refuse:
      return refuse();
  }
}

void HttpRun::nothing_stored(Forward why) {
  forward_ = why;
  if (rules::without_entry(request(), why).use == Use::refuse) return refuse();
  // A part of something unknown, or only its head: not worth the whole of it.
  if (rules::contains(fields_, "range") || client_.exchange().head.method == boost::beast::http::verb::head) {
    return go_alone();
  }
  fetch();
}

void HttpRun::fetch() {
  if (client_.exchange().head.method == boost::beast::http::verb::head) return go_alone();
  needs_whole_ = rules::contains(fields_, "range") || rules::contains(fields_, "if-none-match") ||
                 rules::contains(fields_, "if-modified-since");
  join(flight_key());
}

// Who validates a stored response shares the call with those who found the same one.
const std::string& HttpRun::flight_key() const {
  if (stale_) return stale_->key;
  return newest_variant_.empty() ? primary_ : newest_variant_;
}

void HttpRun::refuse() {
  client_.exchange().cache = CacheResult::bypass;
  client_.fail(ErrorKind::not_cached, {});
}

std::unique_ptr<Recipe> HttpRun::recipe() {
  return std::make_unique<HttpRecipe>(tiers_, client_.exchange(), url_, primary_, stale_);
}

// The request that fills the cache: the client's, without its conditions and ranges, with those of what is stored.
Fetch::Order HttpRun::order() {
  const http::RequestHead& head = client_.exchange().head;
  Fetch::Order order;
  order.head.append(request_line(head));
  for (const cache::Field& field : fields_) {
    if (rules::is_left_out_of_fill(field.name) || (head.nominates && head.nominated(field.name))) continue;
    order.head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (stale_) {
    for (const cache::Field& field : rules::validation_fields(*stale_)) {
      order.head.append(field.name).append(": ").append(field.value).append("\r\n");
    }
  }
  order.head += "\r\n";
  order.max_object = config().max_object;
  order.alone_for = std::chrono::seconds(2);
  return order;
}

bool HttpRun::matches(const cache::Entry& head) {
  return head.vary.empty() || rules::vary_key(head.vary.front(), fields_) == head.key;
}

std::string HttpRun::lines_for_fetched(bool collapsed, bool stored) {
  CacheStatus status;
  status.forward = forward_;
  status.stored = stored;
  status.collapsed = collapsed;
  return lines_of(status);
}

// A backend call ended with this entry: validated, replaced, or kept in spite of a failure.
void HttpRun::answer(const EntryPtr& entry, bool collapsed) {
  if (collapsed && !entry->vary.empty() && !matches(*entry)) return go_alone();
  CacheStatus status;
  status.forward = forward_;
  status.collapsed = collapsed;
  const bool kept = entry == stale_;
  const bool validated = !kept && stale_ != nullptr && entry->body.size() == stale_->body.size();
  if (kept) status.detail = "stale-if-error";
  client_.exchange().cache = kept        ? CacheResult::stale
                             : collapsed ? CacheResult::collapsed
                             : validated ? CacheResult::revalidated
                                         : CacheResult::miss;
  status.stored = !kept;
  serve(entry, status);
}

void HttpRun::serve(const EntryPtr& entry, CacheStatus status) {
  const cache::WallTime now = wall_now();
  status.ttl = std::chrono::floor<std::chrono::seconds>(entry->freshness.ttl(now));
  std::string lines = "age: " + std::to_string(rules::age_to_send(*entry, now).count()) + "\r\n" + lines_of(status);
  const bool head_only = client_.exchange().head.method == boost::beast::http::verb::head;
  if (rules::is_not_modified(request(), *entry, now)) {
    own_head_ = partial_head(*entry, 304, {}, &rules::belongs_in_304);
    if (own_head_) return send(own_head_->head, lines, {}, entry);
  }
  const rules::Part part = rules::requested_part(request(), *entry, entry->body.size(), now);
  std::string_view body = entry->body;
  if (part.kind != rules::Part::Kind::whole && !head_only) {
    const bool satisfiable = part.kind == rules::Part::Kind::partial;
    body = satisfiable ? body.substr(part.first, part.last - part.first + 1) : std::string_view{};
    own_head_ = partial_head(*entry, satisfiable ? 206 : 416,
                             "content-range: " + rules::content_range(part, entry->body.size()) + "\r\n", nullptr);
    if (own_head_) own_head_->set_length(body.size());
    if (own_head_) return send(own_head_->head, lines, body, entry);
    body = entry->body;
  }
  if (!head_only) return send(head_of(*entry), lines, body, entry);
  http::ResponseHead head = head_of(*entry);
  head.framing = http::Framing::none;
  send(head, lines, {}, entry);
}

void HttpRun::observe(WorkerTiers& tiers, const http::Exchange& exchange, const http::ResponseHead& response) {
  const std::string url = url_of(exchange.head);
  std::vector<cache::Field> asked;
  std::vector<cache::Field> answered;
  for (const http::Field& field : exchange.head.fields) asked.push_back({field.name, field.value});
  for (const http::Field& field : response.fields) answered.push_back({field.name, field.value});
  const rules::Request request{exchange.head.method_text, url, asked};
  const rules::Response answer{response.status, answered, wall_now(), wall_now()};
  if (!rules::is_safe(request.method)) {
    for (const std::string& changed : rules::invalidated_urls(request, answer)) tiers.invalidate(changed);
    return;
  }
  if (exchange.head.method != boost::beast::http::verb::head) return;
  std::string key = primary_key(*exchange.route, url);
  EntryPtr entry = tiers.find(key);
  for (std::size_t i = 0; entry && entry->kind == cache::Entry::Kind::variants && i < entry->vary.size(); ++i) {
    EntryPtr variant = tiers.find(key + "\n" + rules::vary_key(entry->vary[i], asked));
    if (variant != nullptr || i + 1 == entry->vary.size()) entry = std::move(variant);
  }
  if (entry == nullptr || entry->kind != cache::Entry::Kind::response) return;
  switch (rules::effect_of_head(answer, *entry)) {
    case rules::HeadEffect::none:
      return;
    case rules::HeadEffect::invalidate:
      entry->soft_purged = true;
      return;
    case rules::HeadEffect::update:
      HttpRecipe::store_updated(tiers, rules::update(*entry, request, answer), entry->key);
      return;
  }
}

}  // namespace brink::cached
