#include "proxy/cached/http_recipe.hpp"

#include <algorithm>

#include "cache/http/freshness.hpp"
#include "cache/http/stored_fields.hpp"
#include "cache/http/using.hpp"
#include "cache/http/vary.hpp"
#include "proxy/cached/stored_head.hpp"

namespace brink::cached {

namespace rules = cache::http;
using boost::intrusive_ptr;
using cache::EntryPtr;

namespace {
constexpr std::size_t max_vary_lists = 8;  // different Vary fields of one URL that are kept
}

HttpRecipe::HttpRecipe(WorkerTiers& tiers, const http::Exchange& cause, std::string url, std::string primary,
                       EntryPtr stale)
    : tiers_(tiers),
      method_(cause.head.method_text),
      url_(std::move(url)),
      route_(*cause.route),
      primary_(std::move(primary)),
      text_(cause.head.raw),
      stale_(std::move(stale)),
      asked_at_(wall_now()) {
  const auto moved = [&](std::string_view view) {
    return std::string_view(text_).substr(static_cast<std::size_t>(view.data() - cause.head.raw.data()), view.size());
  };
  for (const http::Field& field : cause.head.fields) fields_.push_back({moved(field.name), moved(field.value)});
}

Recipe::Opened HttpRecipe::on_head(const http::ResponseHead& head) {
  std::vector<cache::Field> fields;
  for (const http::Field& field : head.fields) fields.push_back({field.name, field.value});
  const rules::Response response{head.status, fields, asked_at_, wall_now()};
  rules::StoreOptions options;
  options.default_lifetime = route_.cache.ttl;
  Opened opened;
  if (stale_ && head.status == 304) {
    opened.instead = store_updated(tiers_, rules::update(*stale_, request(), response, options), stale_->key);
    if (opened.instead) return opened;
  }
  if (stale_ && head.status >= 500 && rules::may_serve_on_error(request(), *stale_, head.status, wall_now())) {
    opened.instead = stale_;
    return opened;
  }
  rules::Storing storing = rules::may_store(request(), response, options);
  opened.store = storing.store;
  opened.reason = storing.reason;
  if (!storing.store) return opened;

  entry_ = intrusive_ptr<cache::Entry>(new cache::Entry);
  entry_->status = head.status;
  entry_->freshness = storing.freshness;
  entry_->useful_until = storing.useful_until;
  entry_->url = url_;
  entry_->route = route_.name;
  entry_->tags = std::move(storing.tags);
  entry_->head = rules::stored_head(response, storing.directives);
  opened.lines = entry_->head;
  const auto age = std::chrono::floor<std::chrono::seconds>(entry_->freshness.initial_age);
  if (age.count() > 0) opened.lines.append("age: ").append(std::to_string(age.count())).append("\r\n");
  entry_->key = primary_;
  vary_ = std::move(storing.vary);
  if (!vary_.empty()) {
    opened.vary = vary_;
    opened.vary_key = rules::vary_key(vary_, fields_);
    entry_->key.append("\n").append(opened.vary_key);
  }
  return opened;
}

std::vector<EntryPtr> HttpRecipe::make(std::string body) {
  entry_->body = std::move(body);
  entry_->index_fields();
  add_zstd(*entry_, route_);
  if (!attach_head(*entry_)) return {};
  std::vector<EntryPtr> made{entry_};
  if (!vary_.empty()) made.push_back(variants(vary_));
  return made;
}

// What the URL leads to when its responses differ by request fields: those lists, this one first.
EntryPtr HttpRecipe::variants(const std::vector<std::string>& names) const {
  const intrusive_ptr<cache::Entry> list(new cache::Entry);
  list->kind = cache::Entry::Kind::variants;
  list->key = primary_;
  list->url = url_;
  list->route = route_.name;
  list->freshness = entry_->freshness;
  list->useful_until = entry_->useful_until;
  list->vary.push_back(names);
  const EntryPtr before = tiers_.find(primary_);
  if (before && before->kind == cache::Entry::Kind::variants) {
    list->useful_until = std::max(list->useful_until, before->useful_until);
    for (const auto& other : before->vary) {
      if (other != names && list->vary.size() < max_vary_lists) list->vary.push_back(other);
    }
  }
  return list;
}

EntryPtr HttpRecipe::on_failure(http::ErrorKind) {
  if (stale_ && rules::may_serve_on_error(request(), *stale_, 0, wall_now())) return stale_;
  return nullptr;
}

EntryPtr HttpRecipe::store_updated(WorkerTiers& tiers, rules::Updated updated, const std::string& key) {
  if (updated.entry == nullptr) return nullptr;
  const intrusive_ptr<cache::Entry> entry = boost::const_pointer_cast<cache::Entry>(updated.entry);
  if (!attach_head(*entry)) return nullptr;
  if (updated.storing.store) {
    tiers.store(entry, wall_now());
  } else {
    tiers.erase(key);
  }
  return entry;
}

}  // namespace brink::cached
