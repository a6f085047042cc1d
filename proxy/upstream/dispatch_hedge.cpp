#include <algorithm>

#include "proxy/upstream/dispatch.hpp"

// A second endpoint for a request whose first one is late. The first attempt is parked: it goes on waiting, while the
// second is made as any other attempt. Whichever gets a good head first stays, the other is closed.
namespace brink::upstream {

using boost::intrusive_ptr;
using router::Outcome;

// The request is wholly sent: from now on an answer may be late.
void Dispatch::arm_hedge() {
  const auto& config = client_.exchange().route->hedge;
  if (!config || hedged_ || websocket_ || !repeatable()) return;
  const auto usual = cluster().pools[endpoint_index_]->first_bytes.percentile(config->percentile);
  if (!usual) return;
  if (!back_off_) back_off_ = std::make_unique<boost::asio::steady_timer>(worker_.loop.context);
  back_off_->expires_after(std::max<net::Clock::duration>(*usual, config->least));
  back_off_->async_wait([self = intrusive_ptr<Dispatch>(this), attempt = client_.exchange().attempts](auto error) {
    const bool same = self->phase_ == Phase::awaiting_head && self->client_.exchange().attempts == attempt;
    if (!error && same) self->on_late();
  });
}

void Dispatch::on_late() {
  http::Exchange& exchange = client_.exchange();
  const net::Time now = net::Clock::now();
  excluded_.push_back(endpoint_index_);
  const bool may = cluster().picker->any(pick_input(now), true) &&
                   cluster().cluster->load->hedges.take(now, exchange.route->hedge->budget) && client_.rewind_body();
  if (!may) return excluded_.pop_back();
  hedged_ = true;
  worker_.shard.add(observe::Counter::hedges);
  parked_ = std::make_unique<Parked>(*this);
  parked_->endpoint = endpoint_index_;
  parked_->flight = std::move(flight_);
  parked_->connection = std::move(connection_);
  parked_->connection->set_owner(parked_.get());
  parked_->sent = exchange.sent;
  parked_->deadline = phase_deadline_;
  parked_->reused = exchange.reused;
  in_flight_ = false;
  begin_again();
  attempt();
}

// The first attempt has something to say, be it an answer or its end.
void Dispatch::on_parked_readable() {
  const intrusive_ptr<Dispatch> self(this);
  release(Outcome::cancelled);
  take_parked_back();
  receive();
}

// The second attempt is over: what remains is to wait for the first. REQUIRES: it is released.
void Dispatch::take_parked_back() {
  http::Exchange& exchange = client_.exchange();
  begin_again();
  for (http::BodyView view = client_.body(); !view.data.empty(); view = client_.body()) {
    client_.consume_body(view.data.size());  // it has been sent to the first one
  }
  endpoint_index_ = parked_->endpoint;
  flight_ = std::move(parked_->flight);
  connection_ = std::move(parked_->connection);
  connection_->set_owner(this);
  exchange.sent = parked_->sent;
  exchange.reused = parked_->reused;
  phase_deadline_ = parked_->deadline;
  parked_.reset();
  const Endpoint& endpoint = cluster().cluster->endpoints[endpoint_index_];
  exchange.endpoint = endpoint.state.get();
  exchange.endpoint_metrics = endpoint.metrics;
  in_flight_ = head_sent_ = replaced_ = last_in_out_ = request_sent_ = true;
  phase_ = Phase::awaiting_head;
  arm_timer();
  connection_->arm_read();
}

// The second attempt has won, or the exchange is over.
void Dispatch::drop_parked() {
  if (!parked_) return;
  const net::Time now = net::Clock::now();
  cluster().pools[parked_->endpoint]->first_bytes.record(now - parked_->sent);  // it is at least this slow
  parked_->flight.finish(now, Outcome::cancelled);
  parked_->connection->close();
  parked_.reset();
  if (cluster().cluster->config->queue.size > 0) cluster().cluster->load->room.wake_one();
}

}  // namespace brink::upstream
