#include "proxy/cached/fetch.hpp"

#include "proxy/cached/stored_head.hpp"

namespace brink::cached {

using boost::intrusive_ptr;
using http::ErrorKind;

namespace {
constexpr http::Limits request_limits{2 * 1024 * 1024, 20'000, 1024 * 1024};  // it was within the listener's already

// The head for those whose request did not cause the call. nullptr if there is none for them.
cache::EntryPtr head_for_others(const http::ResponseHead& head, Recipe::Opened opened) {
  const intrusive_ptr<cache::Entry> entry(new cache::Entry);
  std::unique_ptr<StoredHead> stored = StoredHead::make(head.status, opened.lines);
  if (stored == nullptr) return nullptr;
  stored->set_framing(head);
  entry->status = head.status;
  entry->attachment = std::move(stored);
  if (!opened.vary.empty()) entry->vary.push_back(std::move(opened.vary));
  entry->key = std::move(opened.vary_key);
  return entry;
}

}  // namespace

std::string request_line(const http::RequestHead& head) {
  std::string text(head.method_text);
  // Without a Host it can only be one of HTTP/1.0.
  text.append(" ").append(head.target).append(head.find(http::FieldId::host) ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
  return text;
}

Fetch::Fetch(WorkerTiers& tiers, cache::FlightPtr flight, std::unique_ptr<Recipe> recipe, Order order,
             const http::Exchange& cause)
    : tiers_(tiers),
      flight_(std::move(flight)),
      waker_(new cache::Waker(
          tiers.loop.context, [](void* self) { static_cast<Fetch*>(self)->on_woken(); }, this)),
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

bool Fetch::begin_response(const http::ResponseHead& head, std::string_view, std::uint64_t) {
  exchange_.status = head.status;
  Recipe::Opened opened = recipe_->on_head(head);
  if (exchange_.fallback != nullptr) opened = {};  // the answer of somebody else is neither stored nor shared
  if (opened.instead) {
    if (opened.store_instead) tiers_.store(opened.instead, asked_at_);
    settled_ = true;
    flight_->complete(std::move(opened.instead), {});
    stop_storing();
    return false;
  }
  const intrusive_ptr<cache::Entry> own(new cache::Entry);
  own->status = head.status;
  own->attachment = StoredHead::copy(head);
  if (own->attachment == nullptr) {
    fail_followers(ErrorKind::internal, "the head of the answer could not be kept");
    return false;
  }
  storing_ = opened.store && (!head.has_content_length || head.content_length <= order_.max_object);
  if (!storing_) {
    if (order_.alone_for.count() > 0) {
      tiers_.shared.flights.remember_alone(flight_->key(), cache::FlightTable::Clock::now() + order_.alone_for);
    }
    stop_storing();
  }
  flight_->open(own, opened.store ? head_for_others(head, std::move(opened)) : nullptr);
  exchange_.head_sent = true;
  return false;
}

bool Fetch::send_body(std::string_view piece, bool last, std::string_view trailers) {
  if (last) trailers_ = trailers;
  if (settled_ || piece.empty()) return true;
  cache::Budget& budget = tiers_.shared.flights.budget;
  const bool fits = storing_ && size_ + piece.size() <= order_.max_object && budget.take(piece.size());
  cache::Piece shared(new cache::Bytes(piece, fits ? &budget : nullptr));
  if (fits) {
    pieces_.push_back(shared);
    size_ += piece.size();
  }
  if (storing_ && (!fits || !recipe_->on_piece(piece))) stop_storing();
  paused_ = !flight_->append(std::move(shared));
  return !paused_;
}

// From here on the answer is for those who follow it already.
void Fetch::stop_storing() {
  storing_ = false;
  unlist();
  flight_->stop_keeping();
  size_ = 0;
  pieces_.clear();
  if (order_.background && !settled_) waker_->wake();  // perhaps it is for nobody now
}

void Fetch::unlist() {
  if (listed_) tiers_.shared.flights.remove(*flight_);
  listed_ = false;
}

// Who takes over must not find this flight again.
void Fetch::fail_followers(ErrorKind kind, std::string_view detail) {
  settled_ = true;
  unlist();
  flight_->fail({static_cast<unsigned>(kind), std::string(detail)});
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
    cache::EntryPtr instead = exchange_.head_sent ? nullptr : recipe_->on_failure(kind);
    if (instead) {
      settled_ = true;
      flight_->complete(std::move(instead), {});
    } else {
      fail_followers(kind, detail);
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
  if (!settled_) fail_followers(ErrorKind::client_gone, "nobody waits for it any more");
  end();
}

// There is room again, or the last follower has left: then the backend is freed at once.
void Fetch::on_woken() {
  const bool for_the_cache = order_.background && listed_;
  if (!for_the_cache && flight_->deserted()) {
    unlist();
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
