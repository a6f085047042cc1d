#include "proxy/upstream/dispatch.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/time_hints.hpp"
#include "proxy/observe/log.hpp"

namespace brink::upstream {

using boost::intrusive_ptr;
using http::ErrorKind;
using http::Stop;
using router::Outcome;

namespace {

constexpr std::size_t max_addresses = 3;  // of one endpoint's name, in one attempt

// 0 to 9, 0 is the most urgent, as in RFC 9218. Only from those whose word counts for more than their clients'.
unsigned urgency_of(const http::Exchange& exchange) {
  constexpr unsigned ordinary = 5;
  if (!exchange.trusted_peer) return ordinary;
  const http::Field* field = exchange.head.find("x-brink-priority");
  if (field == nullptr || field->value.size() != 1 || field->value[0] < '0' || field->value[0] > '9') return ordinary;
  return static_cast<unsigned>(field->value[0] - '0');
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
  leave_queue();
  drop_parked();
  if (have_head_ && head_.status == 101) worker_.shard.change(observe::Gauge::tunnels_open, -1);
  leave_cluster();
  --worker_.running;
}

void Dispatch::start() {
  client_.exchange().stop = Stop::dispatch;
  set_deadlines();
  cluster().cluster->load->retries.request(net::Clock::now());
  if (client_.exchange().route->hedge) cluster().cluster->load->hedges.request(net::Clock::now());
  if (!enter_cluster() && cluster().cluster->config->queue.size == 0) return fail(ErrorKind::cluster_full);
  // A connection is chosen only once there is something to send on it: a slow client does not hold a backend.
  const http::BodyView view = client_.body();
  if (view.data.empty() && !view.last) {
    set_phase(Phase::waiting_body, net::Clock::duration::max());
    return client_.want_body();
  }
  attempt();
}

void Dispatch::set_deadlines() {
  const http::Exchange& exchange = client_.exchange();
  head_deadline_ = total_deadline_ = exchange.start + timeouts().total;
  if (websocket_) return;
  const http::TimeHints hints = http::time_hints(exchange.head);
  if (hints.total && exchange.start + *hints.total < total_deadline_) {
    head_deadline_ = total_deadline_ = exchange.start + *hints.total;
    asked_total_ = asked_head_ = true;
  }
  if (hints.head && exchange.start + *hints.head < head_deadline_) {
    head_deadline_ = exchange.start + *hints.head;
    asked_head_ = true;
  }
}

// Counts the request in the cluster, unless that is at its limit.
bool Dispatch::enter_cluster() {
  if (admitted_) return true;
  ClusterLoad& load = *cluster().cluster->load;
  if (load.requests.fetch_add(1, std::memory_order_relaxed) < cluster().cluster->config->limits.requests) {
    admitted_ = true;
  } else {
    load.requests.fetch_sub(1, std::memory_order_relaxed);
  }
  return admitted_;
}

std::uint64_t Dispatch::request_bytes() const {
  const http::RequestHead& head = client_.exchange().head;
  return head.has_content_length ? head.content_length : client_.body().data.size();
}

void Dispatch::attempt() {
  const bool first = is_first();
  // Who waits already comes first.
  if (first && cluster().cluster->config->queue.size > 0 && (!enter_cluster() || !cluster().queue->empty()))
    return enter_queue();
  const int index = cluster().picker->pick(pick_input(net::Clock::now()));
  if (index != router::Picker::none) return attempt_at(static_cast<std::uint32_t>(index));
  if (first && may_queue()) return enter_queue();
  if (!last_error_.empty()) return fail(ErrorKind::connect_failed, last_error_);
  fail(ErrorKind::no_endpoint, "cluster " + cluster().cluster->config->name);
}

// Waiting makes sense only if something will make room: the end of a request, or the next second.
bool Dispatch::may_queue() const {
  if (cluster().cluster->config->queue.size == 0) return false;
  const auto& endpoints = cluster().cluster->endpoints;
  return std::any_of(endpoints.begin(), endpoints.end(), [](const Endpoint& endpoint) {
    return endpoint.state->in_flight.load(std::memory_order_relaxed) > 0 || endpoint.config->max_qps > 0;
  });
}

void Dispatch::enter_queue() {
  const conf::QueueConfig& config = cluster().cluster->config->queue;
  place_ = cluster().queue->enter(*this, urgency_of(client_.exchange()), config.size);
  if (!place_) return fail(ErrorKind::cluster_full, "the queue is full");
  leave_cluster();  // who waits is not in flight
  set_phase(Phase::queued, config.timeout);
}

void Dispatch::leave_queue() {
  if (place_) cluster().queue->leave(*place_);
  place_.reset();
}

bool Dispatch::on_room() {
  const intrusive_ptr<Dispatch> self(this);
  if (!enter_cluster()) return false;
  const int index = cluster().picker->pick(pick_input(net::Clock::now()));
  if (index == router::Picker::none) {
    cluster().cluster->load->requests.fetch_sub(1, std::memory_order_relaxed);
    admitted_ = false;
    return false;
  }
  leave_queue();
  attempt_at(static_cast<std::uint32_t>(index));
  return true;
}

void Dispatch::attempt_at(std::uint32_t index) {
  http::Exchange& exchange = client_.exchange();
  const net::Time now = net::Clock::now();
  endpoint_index_ = index;
  const Endpoint& endpoint = cluster().cluster->endpoints[endpoint_index_];
  if (++exchange.attempts > 1) worker_.shard.add(observe::Counter::retries);
  exchange.endpoint = endpoint.state.get();
  exchange.endpoint_metrics = endpoint.metrics;
  flight_ = router::Flight(*endpoint.state, now, request_bytes());
  in_flight_ = true;

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

void Dispatch::end_flight(net::Time now, Outcome outcome) {
  if (!in_flight_) return;
  in_flight_ = false;
  flight_.finish(now, outcome);
  report(cluster().outliers->finished(endpoint_index_, now, outcome));
  if (cluster().cluster->config->queue.size > 0) cluster().cluster->load->room.wake_one();
}

void Dispatch::report(const std::optional<router::Outliers::Change>& change) const {
  if (!change) return;
  const std::string line = "endpoint " + cluster().cluster->endpoints[endpoint_index_].state->name + " of cluster " +
                           cluster().cluster->config->name + " " + to_string(*change);
  if (change->out_for.count() > 0) {
    observe::log_warn(line);
  } else {
    observe::log_info(line);
  }
}

void Dispatch::release(Outcome outcome) {
  if (back_off_) back_off_->cancel();
  end_flight(net::Clock::now(), outcome);
  if (connection_) connection_->close();
  connection_.reset();
}

void Dispatch::leave_cluster() {
  if (!std::exchange(admitted_, false)) return;
  ClusterLoad& load = *cluster().cluster->load;
  load.requests.fetch_sub(1, std::memory_order_relaxed);
  if (cluster().cluster->config->queue.size > 0) load.room.wake_one();
}

void Dispatch::fail(ErrorKind kind, std::string_view detail) {
  const intrusive_ptr<Dispatch> self(this);
  const std::string kept(detail);  // it may live in what is let go
  release(Outcome::cancelled);
  leave_queue();
  if (parked_) return take_parked_back();
  if (fall_back(kind)) return;
  if (fallbacks_ > 0 && another_may_answer(kind)) kind = ErrorKind::no_endpoint;  // come back later, whoever was asked
  phase_ = Phase::ended;
  timer_.cancel();
  client_.fail(kind, kept);
}

void Dispatch::on_abandoned() {
  const intrusive_ptr<Dispatch> self(this);
  release(phase_ == Phase::tunnel ? Outcome::success : Outcome::cancelled);
  leave_queue();
  drop_parked();
  phase_ = Phase::ended;
  timer_.cancel();
}

void Dispatch::set_phase(Phase phase, net::Clock::duration limit, net::Time now) {
  phase_ = phase;
  phase_deadline_ = limit == net::Clock::duration::max() ? net::Time::max() : now + limit;
  arm_timer();
}

void Dispatch::arm_timer() {
  const net::Time total = phase_ == Phase::tunnel ? net::Time::max() : deadline();
  timer_.set(worker_.loop.wheel, std::min({phase_deadline_, total, comment_deadline_}));
}

void Dispatch::on_timer() {
  const intrusive_ptr<Dispatch> self(this);
  const net::Time now = net::Clock::now();
  if (phase_ == Phase::ended) return;
  if (phase_ != Phase::tunnel && now >= deadline()) return deadline_passed();
  if (now >= comment_deadline_ && now < phase_deadline_) send_comment(now);
  if (now < phase_deadline_) return arm_timer();
  const std::string where = client_.exchange().endpoint != nullptr ? client_.exchange().endpoint->name : std::string();
  switch (phase_) {
    case Phase::queued:
      worker_.shard.add(observe::Counter::queue_expired);
      return fail(ErrorKind::queue_timeout);
    case Phase::connecting:
      worker_.shard.upstream_connect(client_.exchange().endpoint_metrics, false);
      return attempt_failed(ErrorKind::connect_timeout, where);
    case Phase::sending:
      // Nothing is on its way: the client is what is waited for, and its session has a limit for that.
      if (connection_->out.empty()) return set_phase(Phase::sending, net::Clock::duration::max());
      return attempt_failed(ErrorKind::idle_timeout, where);
    case Phase::awaiting_head:
      return attempt_failed(ErrorKind::first_byte_timeout, where);
    case Phase::tunnel:
      release(Outcome::success);
      return broken(ErrorKind::tunnel_timeout, where);
    default:
      release(Outcome::failure);
      return broken(ErrorKind::idle_timeout, where);
  }
}

// A limit that the client chose says nothing about the endpoint.
void Dispatch::deadline_passed() {
  const bool asked = have_head_ ? asked_total_ : asked_head_;
  const bool waited = phase_ == Phase::queued || phase_ == Phase::waiting_body;
  release(asked || waited ? Outcome::cancelled : Outcome::failure);
  leave_queue();
  broken(asked ? ErrorKind::deadline_exceeded : ErrorKind::total_timeout, {});
}

}  // namespace brink::upstream
