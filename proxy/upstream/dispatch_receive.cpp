#include <algorithm>

#include "proxy/http/rules.hpp"
#include "proxy/http/websocket.hpp"
#include "proxy/upstream/dispatch.hpp"

// The answer's way to the client.
namespace brink::upstream {

using boost::intrusive_ptr;
using http::ErrorKind;
using http::Framing;
using router::Outcome;
using Status = net::IoResult::Status;

namespace {

constexpr unsigned max_interim = 16;  // 1xx responses of one request
constexpr http::Limits response_limits{60 * 1024, 256, 0};

}  // namespace

void Dispatch::read_more() {
  if (phase_ == Phase::ended || !connection_) return;
  if (begin_ == end_) {
    buffer_.reset();  // an answer that has nothing to say holds no memory
    begin_ = end_ = 0;
  }
  connection_->arm_read();
}

void Dispatch::on_upstream_readable() {
  const intrusive_ptr<Dispatch> self(this);
  if (paused_) return;  // read_more asks again once the client has taken what is there
  receive();
}

void Dispatch::receive() {
  constexpr int rounds = 4;  // then others get their turn
  for (int round = 0; round < rounds && phase_ != Phase::ended && !paused_; ++round) {
    const bool full = gather();
    if (begin_ < end_) {
      while (!have_head_) {
        if (!parse_head()) return end_if_ended();
      }
      if (!paused_) relay();
    }
    if (ended_) return end_if_ended();
    if (!full) break;  // the socket is drained: readiness will tell of more
  }
  if (phase_ != Phase::ended && !paused_) read_more();
}

// Reads what is there, so that it goes on in one write: small pieces that arrive while one is read join it. True if the
// buffer is full and there may be more.
bool Dispatch::gather() {
  constexpr int reads = 8;
  if (!buffer_) {
    const bool large_body = remaining_ > net::BufferPool::large;
    buffer_ = worker_.loop.buffers.get(large_body ? net::BufferPool::huge : net::BufferPool::large);
  }
  for (int i = 0; i < reads && end_ < buffer_.capacity(); ++i) {
    const net::IoResult result = connection_->socket.read(buffer_.data() + end_, buffer_.capacity() - end_);
    if (result.status == Status::again) return false;
    if (result.status != Status::ok) {
      ended_ = result;
      return false;
    }
    end_ += result.size;
    if (!connection_->socket.more()) break;
  }
  return end_ == buffer_.capacity();
}

// Acts on the end of the backend's bytes once all before it are with the client.
void Dispatch::end_if_ended() {
  if (!ended_ || paused_ || phase_ == Phase::ended) return;
  const net::IoResult result = *ended_;
  ended_.reset();
  upstream_ended(result);
}

Dispatch::Flow Dispatch::parse_head() {
  const bool head_request = client_.exchange().head.method == boost::beast::http::verb::head;
  const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
  const http::ParseResult result = http::parse_response(bytes, response_limits, head_request, head_);
  if (result.error != http::HeadError::ok) {
    release(Outcome::failure);
    fail(ErrorKind::upstream_malformed, result.what);
    return false;
  }
  if (result.size == 0) {
    if (end_ == buffer_.capacity()) {
      release(Outcome::failure);
      fail(ErrorKind::upstream_malformed, "the head is too large");
    } else {
      read_more();
    }
    return false;
  }
  begin_ += result.size;
  if (head_.status == 101) return on_switching();
  if (head_.status < 200) return on_interim();
  return on_final_head();
}

// 100 is for us, who answered the client's expectation; the others go on to clients that know them (RFC 9110
// section 15.2).
Dispatch::Flow Dispatch::on_interim() {
  if (++interim_ > max_interim) {
    release(Outcome::failure);
    fail(ErrorKind::upstream_malformed, "too many interim responses");
    return false;
  }
  if (head_.status == 100 || client_.exchange().head.minor_version == 0) return true;
  if (client_.interim(head_)) return true;
  paused_ = true;
  return false;
}

Dispatch::Flow Dispatch::on_switching() {
  http::Exchange& exchange = client_.exchange();
  if (!websocket_ || !http::accepts_upgrade(exchange.head, head_)) {
    release(Outcome::failure);
    fail(ErrorKind::upgrade_refused, websocket_ ? "the 101 does not accept this upgrade" : "a 101 nobody asked for");
    return false;
  }
  exchange.first_byte = net::Clock::now();
  flight_.first_byte(exchange.first_byte);
  report(cluster().outliers->first_byte(endpoint_index_, exchange.first_byte, true));
  worker_.shard.add(observe::Counter::tunnels_opened);
  worker_.shard.change(observe::Gauge::tunnels_open, 1);
  have_head_ = true;
  request_sent_ = false;
  set_phase(Phase::tunnel, timeouts().tunnel);
  head_.framing = Framing::until_close;
  paused_ = !client_.switch_protocols(head_);
  pump();
  return true;
}

Dispatch::Flow Dispatch::on_final_head() {
  http::Exchange& exchange = client_.exchange();
  const net::Time now = net::Clock::now();
  flight_.first_byte(now, head_.status < 400);
  if (head_.status >= 429 && answered_badly()) return false;
  report(cluster().outliers->first_byte(endpoint_index_, now, head_.status < 500 && head_.status != 429));
  if (back_off_) back_off_->cancel();
  if (parked_) worker_.shard.add(observe::Counter::hedges_won);
  drop_parked();
  if (head_.status < 400 && exchange.sent != net::Time{}) {
    cluster().pools[endpoint_index_]->first_bytes.record(now - exchange.sent);
  }
  exchange.first_byte = now;
  have_head_ = true;
  head_pending_ = true;
  remaining_ = head_.framing == Framing::length ? head_.content_length : 0;
  // A refused upgrade: what the client may have sent after it was meant for the tunnel and is no request.
  if (websocket_) exchange.head.keep_alive = false;
  client_.begin_response(head_);
  phase_ = Phase::relaying;
  phase_deadline_ = exchange.first_byte + timeouts().idle;
  begin_comments();
  arm_timer();
  return true;
}

// Takes the framing off what was read and hands it over in one piece.
void Dispatch::relay() {
  char* const data = buffer_.data() + begin_;
  std::size_t size = end_ - begin_;
  switch (head_.framing) {
    case Framing::none:
      leftover_ = size > 0;
      size = 0;
      response_done_ = true;
      break;
    case Framing::length:
      leftover_ = size > remaining_;
      size = static_cast<std::size_t>(std::min<std::uint64_t>(size, remaining_));
      remaining_ -= size;
      response_done_ = remaining_ == 0;
      break;
    case Framing::chunked: {
      const auto result = reader_.decode(data, size);
      if (result.error != nullptr) {
        release(Outcome::failure);
        return broken(ErrorKind::upstream_malformed, result.error);
      }
      leftover_ = result.done && result.consumed < size;
      size = result.decoded;
      response_done_ = result.done;
      break;
    }
    case Framing::until_close:
      break;
  }
  begin_ = end_ = 0;
  if (size == 0 && !response_done_ && !head_pending_) return;
  head_pending_ = false;
  if (comment_deadline_ != net::Time::max()) note_event_end({data, size});
  if (client_.send_body({data, size}, response_done_, reader_.trailers())) return after_relay();
  paused_ = true;
  phase_deadline_ = net::Time::max();  // the client's write time limit counts now
}

void Dispatch::after_relay() {
  if (response_done_) return phase_ == Phase::tunnel ? finish_tunnel() : finish_response();
  phase_deadline_ = net::Clock::now() + (phase_ == Phase::tunnel ? timeouts().tunnel : timeouts().idle);
  arm_timer();
}

// A stream in which lines of ours can be put: plain events of unknown length, to a client that gets them as they come.
// What a cache passes on to several is left as it is.
void Dispatch::begin_comments() {
  const conf::RouteConfig& route = *client_.exchange().route;
  if (route.keep_alive_comments.count() == 0 || route.cache.mode != conf::CacheMode::off) return;
  const http::Field* type = head_.find(http::FieldId::content_type);
  const bool events =
      type != nullptr && http::iequals(type->value.substr(0, type->value.find(';')), "text/event-stream");
  const bool open = head_.framing == Framing::chunked || head_.framing == Framing::until_close;
  if (!events || !open || head_.find(http::FieldId::content_encoding) != nullptr) return;
  last_sent_ = "\n\n";
  comment_deadline_ = client_.exchange().first_byte + route.keep_alive_comments;
}

void Dispatch::note_event_end(std::string_view piece) {
  constexpr std::size_t longest_end = 3;
  comment_deadline_ = net::Clock::now() + client_.exchange().route->keep_alive_comments;
  last_sent_ += piece.substr(piece.size() - std::min(piece.size(), longest_end));
  if (last_sent_.size() > longest_end) last_sent_.erase(0, last_sent_.size() - longest_end);
}

// One line between two events, without an empty line after it: some readers take that for an event. It says nothing
// about the backend, whose time limit goes on.
void Dispatch::send_comment(net::Time now) {
  comment_deadline_ = now + client_.exchange().route->keep_alive_comments;
  const std::string_view last = last_sent_;
  const bool between = last.ends_with("\n\n") || last.ends_with("\n\r\n") || last.ends_with("\r\r");
  if (!between || paused_ || phase_ != Phase::relaying) return;
  paused_ = !client_.send_body(":\n", false, {});
}

void Dispatch::on_drained() {
  const intrusive_ptr<Dispatch> self(this);
  if (phase_ == Phase::ended) return;
  paused_ = false;
  if (!have_head_) {  // an interim response is out; what came behind it is already here
    while (!have_head_) {
      if (!parse_head()) return;
    }
    if (!paused_) relay();
  } else if (phase_ == Phase::tunnel && end_ > begin_) {  // came right behind the 101
    relay();
  } else {
    after_relay();
  }
  if (ended_) return end_if_ended();
  if (phase_ != Phase::ended && !paused_) read_more();
}

void Dispatch::upstream_ended(const net::IoResult& result) {
  const bool clean = result.status == Status::eof;
  const std::string why = clean ? std::string("closed") : result.error.message();
  if (!have_head_) {
    const std::string detail = client_.exchange().endpoint->name + ": " + why;
    return attempt_failed(ErrorKind::upstream_reset, begin_ < end_ ? detail + " within the head" : detail);
  }
  if (phase_ == Phase::tunnel) {
    if (!clean) {
      release(Outcome::success);
      return broken(ErrorKind::upstream_reset, why);
    }
    response_done_ = true;
    client_.shutdown_send();
    return finish_tunnel();
  }
  if (head_.framing == Framing::until_close && clean) {
    response_done_ = true;
    leftover_ = true;  // not to be kept
    if (client_.send_body({}, true)) return after_relay();
    paused_ = true;
    return;
  }
  release(Outcome::failure);
  broken(ErrorKind::upstream_truncated, why);
}

// The answer cannot be completed. Before its head is out there is still an error reply.
void Dispatch::broken(ErrorKind kind, std::string_view detail) {
  const intrusive_ptr<Dispatch> self(this);
  const std::string kept(detail);  // it may live in what is let go
  release(Outcome::failure);
  drop_parked();
  phase_ = Phase::ended;
  timer_.cancel();
  client_.break_response(kind, kept);
}

void Dispatch::finish_response() {
  const intrusive_ptr<Dispatch> self(this);
  const net::Time now = net::Clock::now();
  const unsigned status = head_.status;
  end_flight(now, outcome_of(status));
  if (head_.keep_alive && request_sent_ && !leftover_ && !ended_ && connection_->out.empty()) {
    cluster().pools[endpoint_index_]->put(std::move(connection_), now);
  }
  release(Outcome::success);
  phase_ = Phase::ended;
  timer_.cancel();
  buffer_.reset();
  client_.finish();
}

// A tunnel ends when both directions have; each may end on its own (half-close).
void Dispatch::finish_tunnel() {
  if (!response_done_ || !request_sent_ || paused_) return;
  const intrusive_ptr<Dispatch> self(this);
  release(Outcome::success);
  phase_ = Phase::ended;
  timer_.cancel();
  client_.finish();
}

}  // namespace brink::upstream
