#include "proxy/downstream/http1_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>
#include <limits>

#include "proxy/downstream/service.hpp"
#include "proxy/http/forward.hpp"
#include "proxy/http/rules.hpp"

// This file: connection life, reading heads and bodies. The answer's side is in http1_response.cpp.
namespace brink::downstream {

using http::ErrorKind;
using http::Stop;
using Status = net::IoResult::Status;

namespace {
constexpr std::size_t first_read = net::BufferPool::small;
constexpr std::size_t max_pipelined = net::BufferPool::medium;  // bytes read ahead of the current request's end
constexpr auto linger_quiet = std::chrono::seconds(2);          // after the last answer, without a byte of the client
constexpr auto linger_time = std::chrono::seconds(30);          // altogether
constexpr auto drain_idle_time = std::chrono::seconds(1);
}  // namespace

void Active::reset() {
  exchange.reset();
  body.reset();
  out.clear();
  run.reset();
  reply = {};
  next.reset();
  next_size = 0;
  head_out.clear();
  coding.reset();
  last_bytes[0] = last_bytes[1] = '\n';
  body_deadline = write_deadline = {};
  want_body = continue_sent = keep_alive = chunked = event_stream = false;
  finish_when_drained = abort_when_drained = write_armed = false;
}

Http1Session::Http1Session(Service& service, net::Socket::Native&& socket, std::string peer, bool trusted, bool tcp)
    : service_(service),
      socket_(std::move(socket)),
      timer_([](void* self) { static_cast<Http1Session*>(self)->on_timer(); }, this),
      peer_(std::move(peer)),
      trusted_(trusted) {
  socket_.prepare(tcp);
}

Http1Session::~Http1Session() = default;

void Http1Session::start() {
  draining_ = service_.draining();
  become_idle();
}

void Http1Session::become_idle() {
  state_ = State::idle;
  const auto wait =
      draining_ ? net::Clock::duration(drain_idle_time) : net::Clock::duration(service_.config().timeouts.keep_alive);
  timer_.set(service_.loop().wheel, net::Clock::now() + wait);
  arm_read();
}

void Http1Session::drain() {
  draining_ = true;
  if (state_ == State::idle) become_idle();
}

void Http1Session::close() {
  if (state_ == State::closed) return;
  const boost::intrusive_ptr<Http1Session> self(this);
  if (state_ == State::exchange) {
    active_->exchange.fail(ErrorKind::client_gone, active_->exchange.stop);
    if (active_->run) active_->run->on_abandoned();
    end_exchange();
  }
  state_ = State::closed;
  timer_.cancel();
  socket_.close();
  if (active_) service_.give_back(std::move(active_));
  in_.reset();
  service_.remove(*this);
}

void Http1Session::arm_read() {
  if (read_armed_ || state_ == State::closed) return;
  read_armed_ = true;
  socket_.wait_read(*this);
}

void Http1Session::on_readable(boost::system::error_code error) {
  read_armed_ = false;
  if (state_ == State::closed) return;
  if (error) return close();
  switch (state_) {
    case State::idle:
    case State::head:
      return read_head();
    case State::exchange:
      return active_->want_body ? read_body() : watch();
    case State::lingering:
      return discard_lingering();
    case State::closed:
      return;
  }
}

void Http1Session::read_head() {
  if (!in_) in_ = service_.loop().buffers.get(first_read);
  const net::IoResult result = socket_.read(in_.data() + in_size_, in_.capacity() - in_size_);
  if (result.status == Status::again) {
    if (in_size_ == 0) in_.reset();
    return arm_read();
  }
  if (result.status != Status::ok) return close();
  in_size_ += result.size;
  advance();
}

void Http1Session::advance() {
  if (advancing_) return;  // the loop below is already running further up the stack
  const boost::intrusive_ptr<Http1Session> self(this);
  advancing_ = true;
  while ((state_ == State::idle || state_ == State::head) && in_size_ > 0 && parse_one()) {
  }
  advancing_ = false;
  if (state_ == State::exchange || state_ == State::head) arm_read();
}

bool Http1Session::parse_one() {
  const bool started_now = state_ == State::idle;
  if (started_now) {
    state_ = State::head;
    head_start_ = net::Clock::now();
    timer_.set(service_.loop().wheel, head_start_ + service_.config().timeouts.head);
    active_ = service_.borrow_active();
  }
  const std::string_view bytes(in_.data(), in_size_);
  const http::ParseResult result = http::parse_request(bytes, service_.head_limits(), active_->exchange.head);
  if (result.error == http::HeadError::ok && result.size == 0) {
    if (in_size_ == in_.capacity()) {
      net::Buffer larger = service_.loop().buffers.get(in_.capacity() * 4);
      std::memcpy(larger.data(), in_.data(), in_size_);
      in_ = std::move(larger);
    }
    return false;
  }
  state_ = State::exchange;
  open_exchange(started_now);
  if (result.error != http::HeadError::ok) {
    refuse_head(result);
    return true;
  }
  http::Exchange& exchange = active_->exchange;
  const std::size_t left =
      active_->body.start(exchange.head.framing, exchange.head.content_length,
                          std::numeric_limits<std::uint64_t>::max(), in_.data() + result.size, in_size_ - result.size);
  take_leftover(in_.data() + in_size_ - left, left);
  if (active_->body.error() != http::BodyError::none) {
    force_close_ = true;
    fail(ErrorKind::malformed_request, active_->body.error_text());
  } else if (exchange.head.method == boost::beast::http::verb::connect) {
    force_close_ = true;  // what follows was meant for a tunnel and is no request
    fail(ErrorKind::method_not_allowed, "CONNECT is not served");
  } else {
    service_.handler().handle(*this);
  }
  return true;
}

// Stop 4: gives the exchange its identity.
void Http1Session::open_exchange(bool started_now) {
  http::Exchange& exchange = active_->exchange;
  exchange.stop = Stop::open;
  exchange.start = head_start_;
  exchange.head_done = started_now ? head_start_ : net::Clock::now();
  exchange.peer = exchange.client = peer_;
  exchange.trusted_peer = trusted_;
  exchange.pipelined = pipelined_;
  timer_.cancel();
  for (const http::Field& field : exchange.head.fields) {
    if (field.id != http::FieldId::unknown && field.name.front() != 'x' && field.name.front() != 'X') continue;
    if (field.name.size() == 12 && http::iequals(field.name, "x-request-id")) {
      if (http::sane_request_id(field.value)) exchange.request_id = field.value;
    } else if (field.name.size() == 11 && http::iequals(field.name, "traceparent")) {
      if (http::valid_traceparent(field.value)) exchange.traceparent = field.value;
    } else if (trusted_ && http::iequals(field.name, "x-forwarded-for")) {
      // The rightmost address that is not one of our own proxies is the client.
      std::string_view list = field.value;
      while (!list.empty()) {
        const std::size_t comma = list.rfind(',');
        std::string_view address = comma == std::string_view::npos ? list : list.substr(comma + 1);
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(0, comma);
        while (!address.empty() && address.front() == ' ') address.remove_prefix(1);
        while (!address.empty() && address.back() == ' ') address.remove_suffix(1);
        if (address.empty()) continue;
        exchange.client = address;
        if (!service_.trusted().contains(address)) break;
      }
    }
  }
  net::Random& random = service_.loop().random;
  if (exchange.request_id.empty()) random.append_hex(exchange.request_id, 2);
  if (exchange.traceparent.empty()) {
    exchange.traceparent = "00-";
    random.append_hex(exchange.traceparent, 2);
    exchange.traceparent += '-';
    random.append_hex(exchange.traceparent, 1);
    exchange.traceparent += "-00";
  }
}

void Http1Session::refuse_head(const http::ParseResult& result) {
  force_close_ = true;
  active_->exchange.stop = Stop::parse;
  switch (result.error) {
    case http::HeadError::head_too_large:
      return fail(ErrorKind::head_too_large, result.what);
    case http::HeadError::too_many_fields:
      return fail(ErrorKind::too_many_fields, result.what);
    case http::HeadError::target_too_long:
      return fail(ErrorKind::target_too_long, result.what);
    case http::HeadError::bad_version:
      return fail(ErrorKind::bad_version, result.what);
    case http::HeadError::unknown_coding:
      return fail(ErrorKind::unknown_coding, result.what);
    default:
      return fail(ErrorKind::malformed_request, result.what);
  }
}

void Http1Session::want_body() {
  Active& active = *active_;
  if (active.want_body) return;
  active.want_body = true;
  if (active.exchange.head.expect_continue && !active.continue_sent && !active.exchange.head_sent &&
      active.body.received() == 0 && active.out.empty()) {
    active.continue_sent = true;
    const auto result = active.out.send(socket_, "HTTP/1.1 100 Continue\r\n\r\n", {}, {});
    if (result == net::Outbox::Result::pending) arm_write();
  }
  if (!active.exchange.tunnel) active.body_deadline = net::Clock::now() + service_.config().timeouts.body;
  rearm_timer();
  arm_read();
}

void Http1Session::read_body() {
  Active& active = *active_;
  net::Buffer buffer = service_.loop().buffers.get(std::min(active.body.read_size(), net::BufferPool::large));
  const net::IoResult result = socket_.read(buffer.data(), std::min(buffer.capacity(), active.body.read_size()));
  if (result.status == Status::again) return arm_read();
  if (result.status == Status::eof && active.exchange.tunnel) {
    active.body.finish_raw();
  } else if (result.status != Status::ok) {
    return client_gone(ErrorKind::client_gone, "while the request body was arriving");
  } else {
    const std::size_t left = active.body.feed(buffer, result.size);
    // The bytes stand either in `buffer` or, if it was taken over, where it was before: the block did not move.
    if (left > 0 && active.body.error() == http::BodyError::none) {
      take_leftover(active.body.last_read_end() - left, left);
    }
  }
  active.want_body = false;
  active.body_deadline = {};
  rearm_timer();
  active.exchange.bytes_in = active.body.received();
  if (active.body.error() == http::BodyError::too_large) {
    return fail_from_here(ErrorKind::body_too_large, active.body.error_text());
  }
  if (active.body.error() == http::BodyError::malformed) {
    force_close_ = true;
    return fail_from_here(ErrorKind::malformed_request, active.body.error_text());
  }
  if (active.body.error() == http::BodyError::undecodable) {
    return fail_from_here(ErrorKind::undecodable_body, active.body.error_text());
  }
  const boost::intrusive_ptr<Http1Session> self(this);
  const boost::intrusive_ptr<http::Run> run = active.run;
  if (run) run->on_body();
  if (state_ == State::exchange) arm_read();
}

bool Http1Session::decode_body() {
  http::RequestHead& head = active_->exchange.head;
  filter::Codings codings;
  for (const http::Field& field : head.fields) {
    if (field.id == http::FieldId::content_encoding) codings.add(field.value);
  }
  if (codings.error != filter::DecodeError::none) return false;
  if (codings.size == 0 || head.framing == http::Framing::none) return true;
  active_->exchange.body_decoded = true;
  active_->body.decode(codings);
  // How many bytes that makes is known at the end only.
  head.framing = http::Framing::chunked;
  head.has_content_length = false;
  return true;
}

void Http1Session::take_leftover(const char* data, std::size_t size) {
  if (size == 0) return;
  Active& active = *active_;
  active.next = service_.loop().buffers.get(std::max(size, first_read));
  std::memcpy(active.next.data(), data, size);
  active.next_size = size;
}

// While the backend works: a FIN or RST of the client must free the backend, and pipelined requests are read ahead, up
// to a bound past which only the write will tell.
void Http1Session::watch() {
  Active& active = *active_;
  if (active.exchange.tunnel || !active.body.complete()) return watch_for_reset();
  if (active.next_size >= max_pipelined) return;
  if (!active.next) active.next = service_.loop().buffers.get(first_read);
  if (active.next_size == active.next.capacity()) {
    net::Buffer larger = service_.loop().buffers.get(max_pipelined);
    std::memcpy(larger.data(), active.next.data(), active.next_size);
    active.next = std::move(larger);
  }
  const net::IoResult result =
      socket_.read(active.next.data() + active.next_size, active.next.capacity() - active.next_size);
  if (result.status == Status::eof || result.status == Status::error) {
    return client_gone(ErrorKind::client_gone,
                       active.exchange.head_sent ? "while the answer was sent" : "before the answer");
  }
  active.next_size += result.size;
  if (active.next_size == 0) active.next.reset();
  arm_read();
}

// Bytes wait that the backend does not take yet, so nothing is read; a reset must free the backend all the same.
void Http1Session::watch_for_reset() {
  if (error_armed_) return;
  error_armed_ = true;
  socket_.wait_error([self = boost::intrusive_ptr<Http1Session>(this)](boost::system::error_code error) {
    self->error_armed_ = false;
    if (error || self->state_ != State::exchange || !self->socket_.failed()) return;
    self->client_gone(ErrorKind::client_gone, "while its bytes waited for the backend");
  });
}

void Http1Session::client_gone(ErrorKind kind, std::string_view detail) {
  active_->exchange.fail(kind, active_->exchange.stop, detail);
  close();
}

void Http1Session::fail_from_here(ErrorKind kind, std::string_view detail) {
  const boost::intrusive_ptr<Http1Session> self(this);
  const boost::intrusive_ptr<http::Run> run = std::move(active_->run);
  if (run) run->on_abandoned();
  fail(kind, detail);
}

void Http1Session::rearm_timer() {
  const Active& active = *active_;
  net::Time deadline = net::Time::max();
  if (active.body_deadline != net::Time{}) deadline = active.body_deadline;
  if (active.write_deadline != net::Time{}) deadline = std::min(deadline, active.write_deadline);
  if (deadline == net::Time::max()) {
    timer_.cancel();
  } else {
    timer_.set(service_.loop().wheel, deadline);
  }
}

void Http1Session::on_timer() {
  const boost::intrusive_ptr<Http1Session> self(this);
  switch (state_) {
    case State::head:
      state_ = State::exchange;
      active_->exchange.head.fields.clear();
      open_exchange(false);
      force_close_ = true;
      active_->exchange.stop = Stop::parse;
      return fail(ErrorKind::head_timeout, {});
    case State::exchange: {
      const net::Time now = net::Clock::now();
      if (active_->write_deadline != net::Time{} && active_->write_deadline <= now) {
        return client_gone(ErrorKind::client_stalled, "write");
      }
      if (active_->body_deadline != net::Time{} && active_->body_deadline <= now) {
        force_close_ = true;
        return fail_from_here(ErrorKind::body_timeout, {});
      }
      return rearm_timer();
    }
    default:
      return close();
  }
}

void Http1Session::linger() {
  state_ = State::lingering;
  linger_until_ = net::Clock::now() + linger_time;
  in_.reset();
  in_size_ = 0;
  if (active_) service_.give_back(std::move(active_));
  socket_.shutdown_send();
  timer_.set(service_.loop().wheel, net::Clock::now() + linger_quiet);
  arm_read();
}

// Reads away what the client still sends, so that the answer is not lost to a reset (RFC 9112 section 9.6).
void Http1Session::discard_lingering() {
  net::Buffer buffer = service_.loop().buffers.get(net::BufferPool::medium);
  const net::IoResult result = socket_.read(buffer.data(), buffer.capacity());
  if (result.status == Status::eof || result.status == Status::error) return close();
  const net::Time now = net::Clock::now();
  if (now > linger_until_) return close();
  if (result.size > 0) timer_.set(service_.loop().wheel, now + linger_quiet);
  arm_read();
}

}  // namespace brink::downstream
