#include <boost/asio/post.hpp>

#include "proxy/downstream/http1_session.hpp"
#include "proxy/downstream/service.hpp"
#include "proxy/http/forward.hpp"

// The answer's side of Http1Session: writing, ending, replies of the edge.
namespace brink::downstream {

using http::ErrorKind;
using Result = net::Outbox::Result;

void Http1Session::set_run(boost::intrusive_ptr<http::Run> run) { active_->run = std::move(run); }

bool Http1Session::will_keep_alive() {
  Active& active = *active_;
  active.keep_alive = active.exchange.head.keep_alive && active.body.complete() && !force_close_ && !draining_;
  return active.keep_alive;
}

bool Http1Session::write(std::string_view head, std::string_view body, std::string_view tail) {
  Active& active = *active_;
  if (state_ != State::exchange) return false;
  if (!active.out.empty()) {
    // Only a 100 (Continue) can be in the way; it is a few bytes, and the socket was empty when it was sent.
    client_gone(ErrorKind::client_stalled, "write");
    return false;
  }
  switch (active.out.send(socket_, head, body, tail)) {
    case Result::done:
      return true;
    case Result::pending:
      active.write_deadline = net::Clock::now() + service_.config().timeouts.write;
      rearm_timer();
      arm_write();
      return false;
    case Result::failed:
      break;
  }
  // The caller is in the middle of its work: tell it from the event loop.
  boost::asio::post(service_.loop().context, [self = boost::intrusive_ptr<Http1Session>(this), run = active.run] {
    if (self->state_ == State::exchange && self->active_->run == run) {
      self->client_gone(ErrorKind::client_gone, "while the answer was sent");
    }
  });
  return false;
}

void Http1Session::arm_write() {
  Active& active = *active_;
  if (active.write_armed) return;
  active.write_armed = true;
  socket_.wait_write(
      [self = boost::intrusive_ptr<Http1Session>(this)](boost::system::error_code error) { self->on_writable(error); });
}

void Http1Session::on_writable(boost::system::error_code error) {
  if (state_ != State::exchange) return;
  Active& active = *active_;
  active.write_armed = false;
  const Result result = error ? Result::failed : active.out.resume(socket_);
  if (result == Result::failed) return client_gone(ErrorKind::client_gone, "while the answer was sent");
  if (result == Result::pending) {
    // Some bytes may have gone: a slow reader is no stalled one.
    active.write_deadline = net::Clock::now() + service_.config().timeouts.write;
    rearm_timer();
    return arm_write();
  }
  active.write_deadline = {};
  rearm_timer();
  if (active.finish_when_drained) return finish();
  const boost::intrusive_ptr<http::Run> run = active.run;
  if (run) run->on_drained();
}

void Http1Session::finish() {
  const boost::intrusive_ptr<Http1Session> self(this);
  Active& active = *active_;
  active.exchange.complete = true;
  const bool keep = active.keep_alive && active.body.complete() && !active.exchange.tunnel;
  const bool tunnel = active.exchange.tunnel;
  end_exchange();
  if (!keep) {
    // Bytes the client has under way would turn a close into a reset, which can destroy the answer just written.
    return tunnel ? close() : linger();
  }
  // The next request's bytes, if any were read ahead, become the input.
  in_ = std::move(active.next);
  in_size_ = active.next_size;
  pipelined_ = in_size_ > 0;
  service_.give_back(std::move(active_));
  become_idle();
  if (in_size_ > 0) advance();
}

void Http1Session::abort() {
  const boost::intrusive_ptr<Http1Session> self(this);
  Active& active = *active_;
  const bool close_delimited = active.exchange.head.minor_version == 0 || active.exchange.tunnel;
  end_exchange();
  if (close_delimited) socket_.reset();
  close();
}

// Stop 14, for every exchange on every way out.
void Http1Session::end_exchange() {
  if (state_ != State::exchange) return;
  state_ = State::head;  // no exchange any more; the caller sets what follows
  active_->exchange.bytes_in = active_->body.received();
  active_->run.reset();
  timer_.cancel();
  service_.handler().finished(active_->exchange);
}

void Http1Session::reply(http::LocalReply reply) {
  Active& active = *active_;
  http::Exchange& exchange = active.exchange;
  active.run.reset();
  active.reply = std::move(reply);
  const bool keep = will_keep_alive();
  exchange.status = active.reply.status;
  exchange.head_sent = true;
  std::string& head = service_.loop().scratch;
  head.clear();
  const int minor_version = exchange.head.minor_version;
  http::append_local_head(head, exchange, active.reply, service_.loop().http_date(), minor_version, keep);
  const bool bodiless = exchange.head.method == boost::beast::http::verb::head || exchange.status < 200 ||
                        exchange.status == 204 || exchange.status == 304;
  const std::string_view body = bodiless ? std::string_view{} : std::string_view(active.reply.body);
  exchange.bytes_out = body.size();
  active.finish_when_drained = true;
  if (write(head, body, {})) finish();
}

void Http1Session::fail(ErrorKind kind, std::string_view detail) {
  http::Exchange& exchange = active_->exchange;
  exchange.fail(kind, exchange.stop, detail);
  if (exchange.head_sent) return abort();
  http::LocalReply reply = http::error_reply(kind, detail);
  if (kind == ErrorKind::upgrade_required) reply.headers.emplace_back("sec-websocket-version", "13");
  this->reply(std::move(reply));
}

void Http1Session::become_tunnel() {
  Active& active = *active_;
  active.exchange.tunnel = true;
  active.body.become_raw({active.next.data(), active.next_size});
}

void Http1Session::shutdown_send() { socket_.shutdown_send(); }

}  // namespace brink::downstream
