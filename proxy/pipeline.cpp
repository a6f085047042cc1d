// The life of a request, top to bottom: the stops of docs/architecture.md, forward only. Stops 1 to 4 (accept, secure,
// parse, open) are the session's, in downstream/; what happens inside stop 10 is in upstream/dispatch.
#include "proxy/pipeline.hpp"

#include <algorithm>

#include "cache/http/invalidation.hpp"
#include "proxy/cached/exact_run.hpp"
#include "proxy/cached/http_run.hpp"
#include "proxy/http/websocket.hpp"
#include "proxy/model_search.hpp"
#include "proxy/rewriting.hpp"
#include "router/split.hpp"

namespace brink {

using http::ErrorKind;
using http::Exchange;
using http::Stop;
using router::Match;

namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

std::optional<std::string_view> find_field(const void* head, std::string_view name) {
  const http::Field* field = static_cast<const http::RequestHead*>(head)->find(name);
  if (field == nullptr) return std::nullopt;
  return field->value;
}

const router::ModelScanner* scanner_of(const ModelSearch* model) { return model ? &model->scanner() : nullptr; }

}  // namespace

void Pipeline::handle(http::Client& client) {
  Exchange& exchange = client.exchange();
  exchange.pin = upstream_.current();
  if (exchange.head.bad_expect) return client.fail(ErrorKind::expectation_failed);
  match_route(client, nullptr);
}

// Stop 5: match route. A route that asks for the body's model is known only once the model is.
void Pipeline::match_route(http::Client& client, const ModelSearch* model) {
  Exchange& exchange = client.exchange();
  exchange.stop = Stop::match;
  upstream::WorkerSnapshot& snapshot = pinned(exchange);
  std::string host;
  router::RequestView view;
  view.host = exchange.head.host;
  if (std::any_of(view.host.begin(), view.host.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    view.host = host = lower_case(view.host);
  }
  view.path = exchange.head.path;
  view.method = exchange.head.method_text;
  view.head = &exchange.head;
  view.find_field = &find_field;
  if (model != nullptr) {
    view.model_state = model->found() ? router::RequestView::Model::known : router::RequestView::Model::absent;
    view.model = exchange.model;
  }
  const Match match = snapshot.shared->routes.match(view);
  switch (match.kind) {
    case Match::Kind::not_found:
      return client.fail(ErrorKind::no_route, model != nullptr ? "model " + exchange.model : std::string());
    case Match::Kind::method_not_allowed: {
      exchange.fail(ErrorKind::method_not_allowed, Stop::match);
      http::LocalReply reply = http::error_reply(ErrorKind::method_not_allowed, "allowed: " + match.allow);
      reply.headers.emplace_back("allow", match.allow);
      return client.reply(std::move(reply));
    }
    case Match::Kind::route:
    case Match::Kind::needs_model:
      return take_route(client, match, model);
  }
}

void Pipeline::take_route(http::Client& client, const Match& match, const ModelSearch* model) {
  Exchange& exchange = client.exchange();
  client.set_body_limit(match.route->limits.body);
  const bool needs_model = model == nullptr && (match.kind == Match::Kind::needs_model || match.route->rewrite.model);
  if (!needs_model) {
    exchange.route = match.route;
    exchange.route_metrics = pinned(exchange).shared->route_metrics[match.route_index];
    upstream_.shard.started(exchange.route_metrics);
  }
  if (client.body_error() == http::BodyError::too_large) return client.fail(ErrorKind::body_too_large);
  if (match.route->decompress_requests && model == nullptr) {
    if (!client.decode_body()) return client.fail(ErrorKind::unsupported_coding);
    if (client.body_error() == http::BodyError::too_large) return client.fail(ErrorKind::body_too_large);
    if (client.body_error() != http::BodyError::none) return client.fail(ErrorKind::undecodable_body);
  }
  const http::UpgradeCheck upgrade = http::check_upgrade(exchange.head);
  if (upgrade.error != ErrorKind::none) return client.fail(upgrade.error, upgrade.what);
  if (needs_model) {
    boost::intrusive_ptr<ModelSearch> search(
        new ModelSearch(client, [this](http::Client& found, const ModelSearch& result) {
          if (result.found()) found.exchange().model = result.scanner().model();
          match_route(found, &result);
        }));
    client.set_run(search);
    return search->start();
  }
  if (exchange.route->respond) {
    const conf::RespondConfig& respond = *exchange.route->respond;
    return client.reply({respond.status, respond.headers, respond.body});
  }
  if (!upgrade.websocket && look_into_cache(client, match.route_index, model)) return;
  dispatch(client, match.route_index, model_edit(*exchange.route, scanner_of(model)), upgrade.websocket);
}

// Stop 8: cache; stop 11, fill, is inside it. False: the route has none.
bool Pipeline::look_into_cache(http::Client& client, std::uint32_t route, const ModelSearch* model) {
  Exchange& exchange = client.exchange();
  if (exchange.route->cache.mode == conf::CacheMode::off) return false;
  exchange.stop = Stop::cache;
  upstream::BodyEdit edit = model_edit(*exchange.route, scanner_of(model));
  const auto alone = [this, &client, route, edit] { dispatch(client, route, edit, false); };
  boost::intrusive_ptr<cached::CachedRun> run;
  if (exchange.route->cache.mode == conf::CacheMode::exact) {
    run.reset(new cached::ExactRun(tiers_, *this, client, route, alone,
                                   rewritten_path(*exchange.route, exchange.head.path), std::move(edit)));
  } else {
    exchange.watched = exchange.head.method == boost::beast::http::verb::head ||
                       !cache::http::is_safe(exchange.head.method_text);
    run.reset(new cached::HttpRun(tiers_, *this, client, route, alone));
  }
  client.set_run(run);
  run->start();
  return true;
}

void Pipeline::responding(const Exchange& exchange, const http::ResponseHead& head) {
  if (exchange.cache == http::CacheResult::bypass) cached::HttpRun::observe(tiers_, exchange, head);
}

// A request that the cache makes, or lets go past it.
void Pipeline::forward(http::Client& client, std::uint32_t route) { dispatch(client, route, {}, false); }

// Stop 9: choose cluster, and stop 10: dispatch.
void Pipeline::dispatch(http::Client& client, std::uint32_t route, upstream::BodyEdit edit, bool websocket) {
  Exchange& exchange = client.exchange();
  exchange.stop = Stop::choose_cluster;
  const auto& choices = exchange.route->clusters;
  const int choice = choices.size() == 1 ? 0 : router::choose_cluster(choices, upstream_.loop.random());
  if (choice < 0) return client.fail(ErrorKind::no_endpoint, "every weight of the route's split is 0");
  upstream::WorkerSnapshot& snapshot = pinned(exchange);
  const std::uint32_t cluster = snapshot.shared->route_clusters[route][static_cast<std::size_t>(choice)];
  exchange.cluster = snapshot.shared->clusters[cluster].config;

  boost::intrusive_ptr<upstream::Dispatch> run(
      new upstream::Dispatch(upstream_, client, boost::intrusive_ptr<upstream::WorkerSnapshot>(&snapshot), cluster,
                             rewritten_path(*exchange.route, exchange.head.path), websocket, std::move(edit)));
  client.set_run(run);
  run->start();
}

// Stop 14: finish, always and exactly once.
void Pipeline::finished(Exchange& exchange) {
  const router::Time now = router::Clock::now();
  if (exchange.error == ErrorKind::none && exchange.complete) exchange.stop = Stop::finish;
  upstream_.shard.finished(exchange, now);
  log_.write(exchange, now);
}

upstream::WorkerSnapshot& Pipeline::pinned(const Exchange& exchange) {
  return static_cast<upstream::WorkerSnapshot&>(*exchange.pin);
}

}  // namespace brink
