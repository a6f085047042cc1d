#include "proxy/upstream/dispatch.hpp"

#include <algorithm>

namespace brink::upstream {

using boost::intrusive_ptr;
using http::ErrorKind;
using http::Stop;
using router::Outcome;

namespace {

constexpr std::size_t max_connect_attempts = 3;  // endpoints tried when connections cannot be made
constexpr std::size_t max_addresses = 3;         // of one endpoint's name, in one attempt
constexpr unsigned max_fallbacks = 4;            // in a chain of clusters; the configuration allows no circle

// The cluster has no answer, and another may have one. Faults of the request or of the client are not among these.
bool another_may_answer(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::no_endpoint:
    case ErrorKind::cluster_full:
    case ErrorKind::connect_failed:
    case ErrorKind::connect_timeout:
    case ErrorKind::upstream_reset:
    case ErrorKind::upstream_malformed:
    case ErrorKind::first_byte_timeout:
      return true;
    default:
      return false;
  }
}

// RFC 9110 section 9.2.2.
bool is_idempotent(boost::beast::http::verb method) {
  using boost::beast::http::verb;
  return method == verb::get || method == verb::head || method == verb::options || method == verb::put ||
         method == verb::delete_ || method == verb::trace;
}

}  // namespace

Dispatch::Dispatch(WorkerState& worker, http::Client& client, intrusive_ptr<WorkerSnapshot> snapshot,
                   std::uint32_t cluster, std::string path, bool websocket, BodyEdit edit)
    : worker_(worker),
      client_(client),
      snapshot_(std::move(snapshot)),
      cluster_index_(cluster),
      path_(std::move(path)),
      edit_(std::move(edit)),
      timer_([](void* self) { static_cast<Dispatch*>(self)->on_timer(); }, this),
      websocket_(websocket) {
  ++worker_.running;
}

Dispatch::~Dispatch() {
  release(Outcome::cancelled);
  if (have_head_ && head_.status == 101) worker_.shard.change(observe::Gauge::tunnels_open, -1);
  if (admitted_) cluster().cluster->load->requests.fetch_sub(1, std::memory_order_relaxed);
  --worker_.running;
}

// False counts as admitted, too: what was counted is taken back at the end.
bool Dispatch::admit() {
  ClusterLoad& load = *cluster().cluster->load;
  admitted_ = true;
  return load.requests.fetch_add(1, std::memory_order_relaxed) < cluster().cluster->config->limits.requests;
}

void Dispatch::start() {
  http::Exchange& exchange = client_.exchange();
  exchange.stop = Stop::dispatch;
  total_deadline_ = exchange.start + timeouts().total;
  if (!admit()) return fail(ErrorKind::cluster_full);
  // A connection is chosen only once there is something to send on it: a slow client does not hold a backend.
  const http::BodyView view = client_.body();
  if (view.data.empty() && !view.last) {
    set_phase(Phase::waiting_body, net::Clock::duration::max());
    return client_.want_body();
  }
  attempt();
}

void Dispatch::attempt() {
  http::Exchange& exchange = client_.exchange();
  const net::Time now = net::Clock::now();
  const std::uint64_t bytes =
      exchange.head.has_content_length ? exchange.head.content_length : client_.body().data.size();
  int index = static_cast<int>(endpoint_index_);
  if (!fresh_only_) {
    index = cluster().picker->pick({now, bytes, excluded_});
    if (index == router::Picker::none) {
      if (!excluded_.empty()) return fail(ErrorKind::connect_failed, connect_error_);
      return fail(ErrorKind::no_endpoint, "cluster " + cluster().cluster->config->name);
    }
  }
  endpoint_index_ = static_cast<std::uint32_t>(index);
  const Endpoint& endpoint = cluster().cluster->endpoints[endpoint_index_];
  if (++exchange.attempts > 1) worker_.shard.add(observe::Counter::retries);
  exchange.endpoint = endpoint.state.get();
  exchange.endpoint_metrics = endpoint.metrics;
  flight_ = router::Flight(*endpoint.state, now, bytes);

  connection_ = fresh_only_ ? nullptr : cluster().pools[endpoint_index_]->take();
  exchange.reused = connection_ != nullptr;
  if (connection_) {
    worker_.shard.upstream_reuse(endpoint.metrics);
    connection_->set_owner(this);
    return begin_sending();
  }
  AddressBook::Answer answer = endpoint.addresses->get();
  if (answer.addresses.empty()) {
    worker_.refresh_addresses(endpoint.config->host);
    return attempt_failed(ErrorKind::connect_failed, endpoint.state->name + " has no address: " + answer.error);
  }
  addresses_ = std::move(answer.addresses);
  std::rotate(addresses_.begin(),
              addresses_.begin() + static_cast<std::ptrdiff_t>(worker_.loop.random() % addresses_.size()),
              addresses_.end());
  next_address_ = 0;
  if (!open_connection()) return fail(ErrorKind::cluster_full, "connections");
  connection_->connect(addresses_[next_address_++]);
  set_phase(Phase::connecting, timeouts().connect);
}

bool Dispatch::open_connection() {
  const std::uint32_t most = cluster().cluster->config->limits.connections;
  Pool& pool = *cluster().pools[endpoint_index_];
  connection_ = pool.open(most);
  for (std::size_t i = 0; connection_ == nullptr && i < cluster().pools.size(); ++i) {
    if (cluster().pools[i]->drop_one_idle()) connection_ = pool.open(most);
  }
  if (connection_ == nullptr) return false;
  connection_->set_owner(this);
  return true;
}

void Dispatch::on_connected(boost::system::error_code error) {
  const intrusive_ptr<Dispatch> self(this);
  worker_.shard.upstream_connect(client_.exchange().endpoint_metrics, !error);
  if (error) return try_next_address(error.message());
  begin_sending();
}

void Dispatch::try_next_address(std::string_view why) {
  if (next_address_ < std::min(addresses_.size(), max_addresses)) {
    connection_->connect(addresses_[next_address_++]);
    return;
  }
  const Endpoint& endpoint = cluster().cluster->endpoints[endpoint_index_];
  if (endpoint.config->path.empty()) worker_.refresh_addresses(endpoint.config->host);
  attempt_failed(ErrorKind::connect_failed, endpoint.state->name + ": " + std::string(why));
}

// A request goes to another endpoint when none of it was sent, and once more to the same one when a kept connection
// turned out to be closed and doing the request twice does no harm (RFC 9110 section 9.2.2).
void Dispatch::attempt_failed(ErrorKind kind, std::string_view detail) {
  const bool connecting = kind == ErrorKind::connect_failed || kind == ErrorKind::connect_timeout;
  if (connecting) {
    release(Outcome::failure);
    excluded_.push_back(endpoint_index_);
    connect_error_ = detail;
    const std::size_t most = std::min(max_connect_attempts, cluster().cluster->endpoints.size());
    if (excluded_.size() < most && !fresh_only_) return attempt();
    return fail(kind, detail);
  }
  if (may_resend() && client_.rewind_body()) {
    release(Outcome::cancelled);
    fresh_only_ = true;
    begin_again();
    return attempt();
  }
  release(Outcome::failure);
  fail(kind, detail);
}

bool Dispatch::may_resend() const {
  const http::Exchange& exchange = client_.exchange();
  return exchange.reused && !fresh_only_ && begin_ == end_ && interim_ == 0 && !websocket_ &&
         is_idempotent(exchange.head.method);
}

void Dispatch::begin_again() {
  body_offset_ = in_out_ = 0;
  head_sent_ = replaced_ = last_in_out_ = request_sent_ = request_broken_ = false;
  client_.exchange().sent = {};
  buffer_.reset();
  begin_ = end_ = 0;
  ended_.reset();
}

// Goes on with the cluster that is to answer in the place of this one. False: there is none, or the request cannot be
// sent again.
bool Dispatch::fall_back(ErrorKind kind) {
  http::Exchange& exchange = client_.exchange();
  const int next = snapshot_->shared->fallbacks[cluster_index_];
  if (next < 0 || exchange.head_sent || have_head_ || interim_ > 0 || websocket_ || !another_may_answer(kind))
    return false;
  if (fallbacks_ >= max_fallbacks || !client_.rewind_body()) return false;
  ++fallbacks_;
  if (admitted_) cluster().cluster->load->requests.fetch_sub(1, std::memory_order_relaxed);
  worker_.shard.add(observe::Counter::fallbacks);
  cluster_index_ = static_cast<std::uint32_t>(next);
  exchange.cluster = exchange.fallback = cluster().cluster->config;
  excluded_.clear();
  connect_error_.clear();
  fresh_only_ = false;
  begin_again();
  if (!admit()) {
    fail(ErrorKind::cluster_full);
  } else {
    attempt();
  }
  return true;
}

void Dispatch::release(Outcome outcome) {
  if (flight_) flight_.finish(net::Clock::now(), outcome);
  if (connection_) connection_->close();
  connection_.reset();
}

void Dispatch::fail(ErrorKind kind, std::string_view detail) {
  const intrusive_ptr<Dispatch> self(this);
  const std::string kept(detail);  // it may live in what is let go
  release(Outcome::cancelled);
  if (fall_back(kind)) return;
  phase_ = Phase::ended;
  timer_.cancel();
  client_.fail(kind, kept);
}

void Dispatch::on_abandoned() {
  const intrusive_ptr<Dispatch> self(this);
  release(phase_ == Phase::tunnel ? Outcome::success : Outcome::cancelled);
  phase_ = Phase::ended;
  timer_.cancel();
}

void Dispatch::set_phase(Phase phase, net::Clock::duration limit, net::Time now) {
  phase_ = phase;
  phase_deadline_ = limit == net::Clock::duration::max() ? net::Time::max() : now + limit;
  arm_timer();
}

void Dispatch::arm_timer() {
  const net::Time total = phase_ == Phase::tunnel ? net::Time::max() : total_deadline_;
  timer_.set(worker_.loop.wheel, std::min(phase_deadline_, total));
}

void Dispatch::on_timer() {
  const intrusive_ptr<Dispatch> self(this);
  const net::Time now = net::Clock::now();
  if (phase_ == Phase::ended) return;
  if (phase_ != Phase::tunnel && now >= total_deadline_) {
    release(Outcome::failure);
    return broken(ErrorKind::total_timeout, {});
  }
  if (now < phase_deadline_) return arm_timer();
  const std::string where = client_.exchange().endpoint != nullptr ? client_.exchange().endpoint->name : std::string();
  switch (phase_) {
    case Phase::connecting:
      worker_.shard.upstream_connect(client_.exchange().endpoint_metrics, false);
      return attempt_failed(ErrorKind::connect_timeout, where);
    case Phase::awaiting_head:
      release(Outcome::failure);
      return fail(ErrorKind::first_byte_timeout, where);
    case Phase::tunnel:
      release(Outcome::success);
      return broken(ErrorKind::tunnel_timeout, where);
    default:
      release(Outcome::failure);
      return broken(ErrorKind::idle_timeout, where);
  }
}

}  // namespace brink::upstream
