#include <algorithm>
#include <bit>

#include "proxy/http/time_hints.hpp"
#include "proxy/upstream/dispatch.hpp"

// What follows an attempt that failed. Nothing is repeated once the client has seen a byte.
namespace brink::upstream {

using boost::intrusive_ptr;
using conf::RetryConfig;
using http::ErrorKind;
using router::Outcome;

namespace {

constexpr unsigned none = 0;
constexpr unsigned max_fallbacks = 4;  // in a chain of clusters; the configuration allows no circle

// RFC 9110 section 9.2.2.
bool is_idempotent(boost::beast::http::verb method) {
  using boost::beast::http::verb;
  return method == verb::get || method == verb::head || method == verb::options || method == verb::put ||
         method == verb::delete_ || method == verb::trace;
}

unsigned condition_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::connect_failed:
    case ErrorKind::connect_timeout:
      return RetryConfig::connect;
    case ErrorKind::upstream_reset:
      return RetryConfig::reset;
    case ErrorKind::first_byte_timeout:
    case ErrorKind::idle_timeout:
      return RetryConfig::timeout;
    default:
      return none;
  }
}

unsigned condition_of(unsigned status) {
  switch (status) {
    case 429:
      return RetryConfig::s429;
    case 500:
      return RetryConfig::s500;
    case 502:
      return RetryConfig::s502;
    case 503:
      return RetryConfig::s503;
    case 504:
      return RetryConfig::s504;
    default:
      return none;
  }
}

std::size_t reason_of(unsigned condition) { return static_cast<std::size_t>(std::countr_zero(condition)); }

}  // namespace

bool another_may_answer(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::no_endpoint:
    case ErrorKind::cluster_full:
    case ErrorKind::queue_timeout:
    case ErrorKind::connect_failed:
    case ErrorKind::connect_timeout:
    case ErrorKind::upstream_reset:
    case ErrorKind::upstream_malformed:
    case ErrorKind::first_byte_timeout:
    case ErrorKind::idle_timeout:
    case ErrorKind::attempts_failed:
      return true;
    default:
      return false;
  }
}

Outcome outcome_of(unsigned status) {
  if (status == 429 || status == 503) return Outcome::overloaded;
  if (status >= 500) return Outcome::failure;
  return status >= 400 ? Outcome::rejected : Outcome::success;
}

void Dispatch::attempt_failed(ErrorKind kind, std::string_view detail) {
  const intrusive_ptr<Dispatch> self(this);
  const std::string kept(detail);  // it may live in what is let go
  if (is_stale_connection(kind) && client_.rewind_body()) {
    release(Outcome::cancelled);
    worker_.shard.retried(observe::stale_retry);
    begin_again();
    fresh_only_ = true;
    return attempt_at(endpoint_index_);
  }
  const unsigned condition = condition_of(kind);
  release(Outcome::failure);
  if (parked_) return take_parked_back();
  last_error_ = kept;
  if ((retry_config().on & condition) != 0 && try_again(reason_of(condition))) return;
  fail(kind, kept);
}

// A kept connection that the backend closed at the moment it was used again: no fault of the endpoint, so the same one
// is asked once more, on a fresh connection (RFC 9110 section 9.2.2).
bool Dispatch::is_stale_connection(ErrorKind kind) const {
  const http::Exchange& exchange = client_.exchange();
  if (kind != ErrorKind::upstream_reset || !exchange.reused || fresh_only_ || websocket_) return false;
  if (begin_ != end_ || interim_ > 0) return false;
  if (is_idempotent(exchange.head.method)) return true;
  const RetryConfig& retry = retry_config();
  return retry.attempts > 0 && (retry.on & RetryConfig::reset) != 0 && retry.non_idempotent;
}

bool Dispatch::repeatable() const {
  if (client_.exchange().head_sent || interim_ > 0 || have_head_) return false;
  const bool nothing_sent = !head_sent_;
  return nothing_sent || retry_config().non_idempotent || is_idempotent(client_.exchange().head.method);
}

// The final head of an answer that is an error of the backend's. True: it does not go on to the client.
bool Dispatch::answered_badly() {
  const unsigned status = head_.status;
  note_back_pressure();
  const unsigned condition = condition_of(status);
  if ((retry_config().on & condition) == 0 || !repeatable()) return false;
  const intrusive_ptr<Dispatch> self(this);
  end_flight(net::Clock::now(), outcome_of(status));
  if (parked_) {
    let_go_of_answer();
    take_parked_back();
    return true;
  }
  if (try_again(reason_of(condition))) return true;
  return fall_back(ErrorKind::attempts_failed);
}

void Dispatch::note_back_pressure() {
  if (head_.status != 429 && head_.status != 503) return;
  const auto wait = http::retry_after(head_, std::chrono::system_clock::now());
  if (wait) cluster().cluster->endpoints[endpoint_index_].state->ejection.pause(net::Clock::now() + *wait);
}

// Another attempt, after a while, if there is one to make and the budget allows it. REQUIRES: the flight has ended.
bool Dispatch::try_again(std::size_t reason) {
  const RetryConfig& retry = retry_config();
  if (retries_ >= retry.attempts || !repeatable()) return false;
  bool another = false;
  if (!choose_again(another)) return false;
  const net::Time now = net::Clock::now();
  const auto bound = std::min(retry.max_backoff, retry.backoff * (1 << retries_));
  std::chrono::milliseconds wait(
      static_cast<std::int64_t>(worker_.loop.random() % static_cast<std::uint64_t>(bound.count() + 1)));
  if (another && reason == reason_of(RetryConfig::connect)) wait = {};  // nobody was burdened
  if (now + wait >= head_deadline_) return false;
  if (!cluster().cluster->load->retries.take(now, retry.budget)) {
    worker_.shard.add(observe::Counter::retry_budget_empty);
    return false;
  }
  if (!client_.rewind_body()) return false;
  ++retries_;
  worker_.shard.retried(reason);
  let_go_of_answer();
  begin_again();
  if (wait.count() == 0) {
    attempt();
  } else {
    back_off(wait);
  }
  return true;
}

// Whom to ask: an endpoint that has not failed this request yet; where there is none, any that did not ask to be left
// alone. False: nobody.
bool Dispatch::choose_again(bool& another) {
  excluded_.push_back(endpoint_index_);
  const net::Time now = net::Clock::now();
  another = cluster().picker->any(pick_input(now));
  if (another) return true;
  std::vector<std::uint32_t> tried;
  tried.swap(excluded_);
  if (cluster().picker->any(pick_input(now), true)) return true;
  excluded_.swap(tried);
  return false;
}

void Dispatch::back_off(std::chrono::milliseconds wait) {
  set_phase(Phase::backing_off, net::Clock::duration::max());
  if (!back_off_) back_off_ = std::make_unique<boost::asio::steady_timer>(worker_.loop.context);
  back_off_->expires_after(wait);
  back_off_->async_wait([self = intrusive_ptr<Dispatch>(this)](boost::system::error_code error) {
    if (!error && self->phase_ == Phase::backing_off) self->attempt();
  });
}

// An answer that is whole already leaves its connection fit for the next request; else closing it is cheaper than
// reading the rest.
void Dispatch::let_go_of_answer() {
  if (!connection_) return;
  const bool whole = head_.framing == http::Framing::none ||
                     (head_.framing == http::Framing::length && end_ - begin_ == head_.content_length);
  if (whole && head_.keep_alive && request_sent_ && !ended_ && connection_->out.empty()) {
    cluster().pools[endpoint_index_]->put(std::move(connection_), net::Clock::now());
  } else {
    connection_->close();
  }
  connection_.reset();
}

void Dispatch::begin_again() {
  fresh_only_ = false;
  body_offset_ = in_out_ = 0;
  tail_out_.clear();
  head_sent_ = replaced_ = last_in_out_ = request_sent_ = request_broken_ = false;
  client_.exchange().sent = {};
  buffer_.reset();
  begin_ = end_ = 0;
  ended_.reset();
}

// Goes on with the cluster that is to answer in the place of this one. False: there is none, or the request cannot be
// sent again. REQUIRES: the flight has ended.
bool Dispatch::fall_back(ErrorKind kind) {
  http::Exchange& exchange = client_.exchange();
  const int next = snapshot_->shared->fallbacks[cluster_index_];
  if (next < 0 || exchange.head_sent || have_head_ || interim_ > 0 || websocket_ || !another_may_answer(kind))
    return false;
  if (fallbacks_ >= max_fallbacks || !client_.rewind_body()) return false;
  ++fallbacks_;
  let_go_of_answer();
  leave_cluster();
  worker_.shard.add(observe::Counter::fallbacks);
  cluster_index_ = static_cast<std::uint32_t>(next);
  exchange.cluster = exchange.fallback = cluster().cluster->config;
  cluster().cluster->load->retries.request(net::Clock::now());
  excluded_.clear();
  last_error_.clear();
  retries_ = 0;
  begin_again();
  if (!enter_cluster() && cluster().cluster->config->queue.size == 0) {
    fail(ErrorKind::cluster_full);
  } else {
    attempt();
  }
  return true;
}

}  // namespace brink::upstream
