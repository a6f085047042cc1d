#include <algorithm>

#include "proxy/http/forward.hpp"
#include "proxy/upstream/dispatch.hpp"

// The request's way to the backend.
namespace brink::upstream {

using boost::intrusive_ptr;
using http::Framing;
using Result = net::Outbox::Result;

void Dispatch::begin_sending() {
  const intrusive_ptr<Dispatch> self(this);
  request_chunked_ = client_.exchange().head.framing == Framing::chunked;
  phase_ = Phase::sending;
  connection_->arm_read();
  pump();
  if (phase_ == Phase::sending) set_phase(Phase::sending, timeouts().idle);
}

void Dispatch::append_head(std::string& out) {
  const http::Exchange& exchange = client_.exchange();
  http::RequestEdit edit;
  edit.path = path_;
  edit.rewrite = &exchange.route->rewrite;
  edit.chunked = request_chunked_;
  edit.has_length = exchange.head.has_content_length;
  edit.length = exchange.head.content_length - (edit_.end - edit_.begin) + edit_.replacement.size();
  edit.websocket = websocket_;
  edit.trusted_client = exchange.trusted_peer;
  http::append_request_head(out, exchange, edit);
}

// Applies the edit at the body's present position: shortens `view` so that it ends where the edit begins, or skips what
// is replaced and puts the replacement into `prefix`. False: skipped bytes were consumed, look at the body again.
bool Dispatch::edit_body(http::BodyView& view, std::string& prefix) {
  if (body_offset_ < edit_.begin) {
    const std::uint64_t before = edit_.begin - body_offset_;
    if (view.data.size() >= before) view = {view.data.substr(0, static_cast<std::size_t>(before)), false};
    return true;
  }
  if (!replaced_) {
    replaced_ = true;
    if (request_chunked_) http::append_chunk_size(prefix, edit_.replacement.size());
    prefix += edit_.replacement;
    if (request_chunked_) prefix += "\r\n";
  }
  if (body_offset_ < edit_.end) {
    const std::uint64_t skipped = std::min<std::uint64_t>(edit_.end - body_offset_, view.data.size());
    client_.consume_body(static_cast<std::size_t>(skipped));
    body_offset_ += skipped;
    return false;
  }
  return true;
}

void Dispatch::pump() {
  while (phase_ != Phase::ended && connection_->out.empty() && !request_sent_ && !request_broken_) {
    std::string& prefix = worker_.loop.scratch;
    prefix.clear();
    if (!head_sent_) append_head(prefix);
    http::BodyView view = client_.body();
    if (edit_.active()) {
      while (!edit_body(view, prefix)) view = client_.body();
    }
    if (prefix.empty() && view.data.empty() && !view.last) return client_.want_body();
    tail_out_ = {};
    if (request_chunked_ && phase_ != Phase::tunnel) {
      if (!view.data.empty()) {
        http::append_chunk_size(prefix, view.data.size());
        tail_out_ = "\r\n";
      }
      if (view.last) {
        tail_out_ += "0\r\n";
        tail_out_ += client_.body_trailers();
        tail_out_ += "\r\n";
      }
    }
    in_out_ = view.data.size();
    last_in_out_ = view.last;
    head_sent_ = true;
    switch (connection_->out.send(connection_->socket, prefix, view.data, tail_out_)) {
      case Result::done:
        sent();
        break;
      case Result::pending:
        connection_->arm_write();
        return;
      case Result::failed:
        return sending_failed();
    }
  }
}

// The backend may have answered before it closed: what it said is read first, then the end shows. A tunnel that cannot
// carry on in one direction is over.
void Dispatch::sending_failed() {
  if (phase_ == Phase::tunnel) return broken(http::ErrorKind::upstream_reset, "the backend closed the tunnel");
  request_broken_ = true;
  connection_->out.clear();
  connection_->arm_read();
}

void Dispatch::sent() {
  client_.consume_body(in_out_);
  body_offset_ += in_out_;
  in_out_ = 0;
  if (phase_ == Phase::tunnel) {
    phase_deadline_ = net::Clock::now() + timeouts().tunnel;
    if (last_in_out_) {
      request_sent_ = true;
      connection_->socket.shutdown_send();
      finish_tunnel();
    }
    return;
  }
  if (!last_in_out_) {
    if (phase_ == Phase::sending) set_phase(Phase::sending, timeouts().idle);
    return;
  }
  request_sent_ = true;
  const net::Time now = net::Clock::now();
  client_.exchange().sent = now;
  if (phase_ == Phase::sending) {
    set_phase(Phase::awaiting_head, timeouts().first_byte, now);
    arm_hedge();
  }
}

void Dispatch::on_upstream_writable() {
  const intrusive_ptr<Dispatch> self(this);
  switch (connection_->out.resume(connection_->socket)) {
    case Result::pending:
      if (phase_ == Phase::sending) set_phase(Phase::sending, timeouts().idle);
      return connection_->arm_write();
    case Result::failed:
      return sending_failed();
    case Result::done:
      sent();
      return pump();
  }
}

void Dispatch::on_body() {
  const intrusive_ptr<Dispatch> self(this);
  if (phase_ == Phase::waiting_body) return attempt();
  if (phase_ != Phase::ended && connection_) pump();
}

}  // namespace brink::upstream
