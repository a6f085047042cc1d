#include "proxy/cached/fetch.hpp"

#include "proxy/cached/stored_head.hpp"

namespace brink::cached {

using boost::intrusive_ptr;
using http::ErrorKind;

namespace {
constexpr http::Limits request_limits{2 * 1024 * 1024, 20'000, 1024 * 1024};  // it was within the listener's already
}

Fetch::Fetch(WorkerTiers& tiers, cache::FlightPtr flight, std::unique_ptr<Recipe> recipe, Order order,
             const http::Exchange& cause)
    : tiers_(tiers),
      flight_(std::move(flight)),
      waker_(new cache::Waker(tiers.loop.context, [](void* self) { static_cast<Fetch*>(self)->on_woken(); }, this)),
      recipe_(std::move(recipe)),
      order_(std::move(order)),
      peer_(cause.peer),
      client_(cause.client),
      asked_at_(wall_now()) {
  exchange_.request_id = cause.request_id;
  exchange_.traceparent = cause.traceparent;
  exchange_.peer = peer_;
  exchange_.client = client_;
  exchange_.trusted_peer = cause.trusted_peer;
  exchange_.start = exchange_.head_done = router::Clock::now();
  exchange_.pin = cause.pin;
  exchange_.route = cause.route;
  exchange_.route_metrics = cause.route_metrics;
  exchange_.model = cause.model;
}

Fetch::~Fetch() { waker_->detach(); }

void Fetch::start(Forwarder& forwarder, std::uint32_t route) {
  const intrusive_ptr<Fetch> self(this);
  tiers_.fetches.emplace_front(this);
  place_ = tiers_.fetches.begin();
  registered_ = true;
  flight_->set_publisher(waker_);
  const http::ParseResult result = http::parse_request(order_.head, request_limits, exchange_.head);
  if (result.error != http::HeadError::ok || result.size != order_.head.size()) {
    return fail(ErrorKind::internal, "the request for the cache could not be made");
  }
  forwarder.forward(*this, route);
}

bool Fetch::rewind_body() {
  taken_ = 0;
  return true;
}

void Fetch::begin_response(const http::ResponseHead& head, std::string_view) {
  exchange_.status = head.status;
  Recipe::Opened opened = recipe_->on_head(head);
  if (opened.instead) {
    if (opened.store_instead) tiers_.store(opened.instead, asked_at_);
    settled_ = true;
    flight_->complete(std::move(opened.instead), {});
    return stop_storing();
  }
  const intrusive_ptr<cache::Entry> shown(new cache::Entry);
  shown->status = head.status;
  shown->attachment = StoredHead::copy(head);
  if (shown->attachment == nullptr) return;  // the parser took it a moment ago; send_body reports it
  storing_ = opened.store && (!head.has_content_length || head.content_length <= order_.max_object);
  if (!storing_) {
    if (order_.alone_for.count() > 0) {
      tiers_.shared.flights.remember_alone(flight_->key(), cache::FlightTable::Clock::now() + order_.alone_for);
    }
    stop_storing();
  }
  if (!opened.vary.empty()) shown->vary.push_back(std::move(opened.vary));
  shown->key = std::move(opened.vary_key);
  flight_->open(shown, opened.store);
  exchange_.head_sent = true;
}

bool Fetch::send_body(std::string_view piece, bool last, std::string_view trailers) {
  if (last) trailers_ = trailers;
  if (settled_ || piece.empty()) return true;
  cache::Piece shared(new cache::Bytes(piece));
  if (storing_) {
    const bool fits = size_ + piece.size() <= order_.max_object && tiers_.shared.flights.reserve(piece.size());
    if (fits) {
      pieces_.push_back(shared);
      size_ += piece.size();
    }
    if (!fits || !recipe_->on_piece(piece)) stop_storing();
  }
  paused_ = !flight_->append(std::move(shared));
  return !paused_;
}

// From here on the answer is for those who follow it already.
void Fetch::stop_storing() {
  storing_ = false;
  if (listed_) tiers_.shared.flights.remove(*flight_);
  listed_ = false;
  flight_->stop_keeping();
  tiers_.shared.flights.release(size_);
  size_ = 0;
  pieces_.clear();
}

void Fetch::finish() {
  const intrusive_ptr<Fetch> self(this);
  exchange_.complete = true;
  if (!settled_) {
    cache::EntryPtr entry;
    if (storing_) {
      std::string body;
      body.reserve(size_);
      for (const cache::Piece& piece : pieces_) body += piece->text;
      const std::vector<cache::EntryPtr> entries = recipe_->make(std::move(body));
      for (const cache::EntryPtr& made : entries) tiers_.store(made, asked_at_);
      if (!entries.empty() && trailers_.empty()) entry = entries.front();
    }
    settled_ = true;
    flight_->complete(std::move(entry), trailers_);
  }
  end();
}

void Fetch::fail(ErrorKind kind, std::string_view detail) {
  const intrusive_ptr<Fetch> self(this);
  exchange_.fail(kind, exchange_.stop, detail);
  if (!settled_) {
    settled_ = true;
    cache::EntryPtr instead = exchange_.head_sent ? nullptr : recipe_->on_failure(kind);
    if (instead) {
      flight_->complete(std::move(instead), {});
    } else {
      flight_->fail({static_cast<unsigned>(kind), std::string(detail)});
    }
  }
  end();
}

void Fetch::reply(http::LocalReply) { fail(ErrorKind::internal, "a fetch got a reply of the edge"); }

bool Fetch::switch_protocols(const http::ResponseHead&) {
  fail(ErrorKind::internal, "a fetch got a 101");
  return false;
}

void Fetch::cancel() {
  const intrusive_ptr<Fetch> self(this);
  if (const intrusive_ptr<http::Run> run = run_) run->on_abandoned();
  if (!settled_) {
    settled_ = true;
    flight_->fail({static_cast<unsigned>(ErrorKind::client_gone), "nobody waits for it any more"});
  }
  end();
}

// There is room again, or the last follower has left: then the backend is freed at once.
void Fetch::on_woken() {
  if (!order_.background && flight_->deserted()) {
    if (listed_) tiers_.shared.flights.remove(*flight_);
    listed_ = false;
    if (flight_->deserted()) return cancel();  // nobody came in between
  }
  if (!paused_ || flight_->congested()) return;
  paused_ = false;
  const intrusive_ptr<Fetch> self(this);
  if (const intrusive_ptr<http::Run> run = run_) run->on_drained();
}

void Fetch::end() {
  waker_->detach();
  stop_storing();
  run_.reset();
  if (registered_) tiers_.fetches.erase(place_);
  registered_ = false;
}

}  // namespace brink::cached
