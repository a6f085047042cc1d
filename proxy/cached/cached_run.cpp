#include "proxy/cached/cached_run.hpp"

namespace brink::cached {

using boost::intrusive_ptr;
using cache::Flight;
using cache::FlightTable;
using http::ErrorKind;

namespace {
constexpr unsigned max_calls = 3;  // to the backend, that may fail before all who wait for one fail too
}

CachedRun::CachedRun(WorkerTiers& tiers, Forwarder& forwarder, http::Client& client, std::uint32_t route, Alone alone)
    : tiers_(tiers),
      client_(client),
      forwarder_(forwarder),
      route_(route),
      alone_(std::move(alone)),
      waker_(new cache::Waker(
          tiers.loop.context, [](void* self) { static_cast<CachedRun*>(self)->on_news(); }, this)) {}

CachedRun::~CachedRun() {
  leave();
  waker_->detach();
}

std::vector<cache::Field> CachedRun::request_fields() const {
  std::vector<cache::Field> fields;
  fields.reserve(client_.exchange().head.fields.size());
  for (const http::Field& field : client_.exchange().head.fields) fields.push_back({field.name, field.value});
  return fields;
}

void CachedRun::look_up(const std::string& key) {
  cache::EntryPtr entry = tiers_.find(key);
  if (!looked_) first_found_ = entry.get();
  looked_ = true;
  if (entry) return found(std::move(entry));
  if (!tiers_.has_shared_tier()) return found(nullptr);
  lookup_ = tiers_.find_shared(key, config().max_object, [this](cache::EntryPtr shared) {
    const intrusive_ptr<CachedRun> self(this);
    lookup_ = 0;
    if (!over_) found(std::move(shared));
  });
}

void CachedRun::join(const std::string& key) {
  FlightTable::Joined joined;
  if (config().coalesce) {
    joined = tiers_.shared.flights.join(key, waker_, config().followers, FlightTable::Clock::now(),
                                        [this] { return arrived(); });
  } else {
    joined.role = FlightTable::Role::lead;
    joined.flight = cache::FlightPtr(new Flight(key));
    joined.ticket = joined.flight->follow(waker_, true);
  }
  take(std::move(joined));
}

void CachedRun::take(FlightTable::Joined joined) {
  if (joined.role == FlightTable::Role::alone) return go_alone();
  if (joined.role == FlightTable::Role::look) {
    looked_again_ = true;
    return look_again();
  }
  flight_ = std::move(joined.flight);
  ticket_ = joined.ticket;
  if (joined.role == FlightTable::Role::follow) return on_news();
  fetch_ = intrusive_ptr<Fetch>(new Fetch(tiers_, flight_, recipe(), order(), client_.exchange()));
  const intrusive_ptr<Fetch> fetch = fetch_;
  fetch->start(forwarder_, route_);
}

// Somebody's answer was stored after this request had looked for it.
bool CachedRun::arrived() const { return looked_ && !looked_again_ && tiers_.find(first_key()).get() != first_found_; }

void CachedRun::fetch_in_background(const std::string& key) {
  cache::FlightPtr flight = tiers_.shared.flights.lead(key);
  if (flight == nullptr) return;
  Fetch::Order background = order();
  background.background = true;
  const intrusive_ptr<Fetch> fetch(
      new Fetch(tiers_, std::move(flight), recipe(), std::move(background), client_.exchange()));
  fetch->start(forwarder_, route_);
}

void CachedRun::go_alone() {
  const intrusive_ptr<CachedRun> self(this);
  leave();
  over_ = true;
  client_.exchange().cache = http::CacheResult::bypass;
  const Alone alone = std::move(alone_);
  alone();
}

void CachedRun::send(const http::ResponseHead& head, std::string_view lines, std::string_view body,
                     cache::EntryPtr kept) {
  const intrusive_ptr<CachedRun> self(this);
  leave();
  kept_ = std::move(kept);
  begun_ = true;
  const bool is_whole = kept_ && body.data() == kept_->body.data() && body.size() == kept_->body.size();
  if (client_.begin_response(head, lines, is_whole ? kept_->zstd.size() : 0)) body = kept_->zstd;
  if (client_.send_body(body, true)) {
    over_ = true;
    return client_.finish();
  }
  paused_ = finish_when_drained_ = true;
}

void CachedRun::on_news() {
  if (flight_ == nullptr || over_ || paused_) return;
  const intrusive_ptr<CachedRun> self(this);
  handle(flight_->look(ticket_));
}

void CachedRun::handle(Flight::News news) {
  take_attempt();
  if (news.phase == Flight::Phase::waiting) return;
  if (news.phase == Flight::Phase::failed) return fail(news.failure);
  const bool collapsed = fetch_ == nullptr;
  if (!begun_ && collapsed && (!news.shared || (news.head && !matches(*news.head)))) return go_alone();
  // Who caused the call sees the answer's own head, with what is for it alone.
  if (!begun_ && news.entry && (collapsed || needs_whole_ || news.head == nullptr)) {
    leave();
    return answer(news.entry, collapsed);
  }
  for (cache::Piece& piece : news.pieces) pieces_.push_back(std::move(piece));
  complete_ = news.phase == Flight::Phase::complete;
  trailers_ = std::move(news.trailers);
  if (!begun_) {
    if (news.head == nullptr) return;
    if (needs_whole_ && !complete_ && news.kept) return;
    begin(news);
  }
  pass_on();
}

void CachedRun::begin(const Flight::News& news) {
  begun_ = true;
  const bool collapsed = fetch_ == nullptr;
  client_.exchange().cache = collapsed ? http::CacheResult::collapsed : http::CacheResult::miss;
  client_.begin_response(head_of(*news.head), lines_for_fetched(collapsed, news.entry != nullptr));
}

void CachedRun::pass_on() {
  while (!over_ && !paused_ && !pieces_.empty()) {
    sending_ = std::move(pieces_.front());
    pieces_.pop_front();
    head_out_ = true;
    const bool last = complete_ && pieces_.empty();
    paused_ = !client_.send_body(sending_->text, last, last ? std::string_view(trailers_) : std::string_view{});
    if (!last) continue;
    if (paused_) finish_when_drained_ = true;
    if (!paused_) {
      leave();
      over_ = true;
      return client_.finish();
    }
  }
  if (over_ || paused_) return;
  if (complete_) {
    leave();
    if (!client_.send_body({}, true, trailers_)) {
      paused_ = finish_when_drained_ = true;
      return;
    }
    over_ = true;
    return client_.finish();
  }
  if (!head_out_) {
    head_out_ = true;
    paused_ = !client_.send_body({});
  }
}

void CachedRun::on_drained() {
  if (over_) return;
  const intrusive_ptr<CachedRun> self(this);
  paused_ = false;
  if (finish_when_drained_) {
    leave();
    over_ = true;
    return client_.finish();
  }
  pass_on();
  on_news();
}

// Before the first byte somebody else may try: the first to hear of it leads, the others follow.
void CachedRun::fail(const cache::Failure& failure) {
  const bool led = fetch_ != nullptr;
  const cache::FlightPtr failed = flight_;
  leave();
  const auto kind = static_cast<ErrorKind>(failure.kind);
  if (begun_) {
    over_ = true;
    return client_.break_response(kind, failure.detail);
  }
  if (!led && ++failures_ < max_calls) {
    FlightTable::Joined joined =
        tiers_.shared.flights.take_over(*failed, waker_, max_calls, [this] { return arrived(); });
    if (joined.role != FlightTable::Role::none) return take(std::move(joined));
  }
  over_ = true;
  client_.fail(kind, failure.detail);
}

void CachedRun::take_attempt() {
  if (fetch_ == nullptr) return;
  const http::Exchange& fetched = fetch_->exchange();
  http::Exchange& own = client_.exchange();
  own.cluster = fetched.cluster;
  own.fallback = fetched.fallback;
  own.endpoint = fetched.endpoint;
  own.endpoint_metrics = fetched.endpoint_metrics;
  own.attempts = fetched.attempts;
  own.reused = fetched.reused;
  own.sent = fetched.sent;
  own.first_byte = fetched.first_byte;
}

void CachedRun::leave() {
  if (lookup_ != 0) tiers_.cancel(lookup_);
  lookup_ = 0;
  if (flight_ == nullptr) return;
  const cache::FlightPtr flight = std::move(flight_);
  flight->leave(ticket_);
  fetch_.reset();
}

void CachedRun::on_abandoned() {
  const intrusive_ptr<CachedRun> self(this);
  over_ = true;
  leave();
}

}  // namespace brink::cached
