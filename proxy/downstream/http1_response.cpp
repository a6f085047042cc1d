#include <boost/asio/post.hpp>

#include "proxy/downstream/http1_session.hpp"
#include "proxy/downstream/service.hpp"
#include "proxy/http/chunked.hpp"
#include "proxy/http/forward.hpp"
#include "proxy/http/rules.hpp"

// The answer's side of Http1Session: writing, ending, replies of the edge.
namespace brink::downstream {

using http::ErrorKind;
using http::Framing;
using http::Stop;
using Result = net::Outbox::Result;

namespace {

bool is_event_stream(const http::ResponseHead& head) {
  const http::Field* type = head.find(http::FieldId::content_type);
  if (type == nullptr) return false;
  const std::string_view value = type->value.substr(0, type->value.find(';'));
  return http::iequals(value.substr(0, value.find(' ')), "text/event-stream");
}

}  // namespace

void Http1Session::set_run(boost::intrusive_ptr<http::Run> run) { active_->run = std::move(run); }

bool Http1Session::will_keep_alive() {
  Active& active = *active_;
  active.keep_alive = active.exchange.head.keep_alive && active.body.complete() && !force_close_ && !draining_;
  return active.keep_alive;
}

bool Http1Session::interim(const http::ResponseHead& head) {
  std::string& text = service_.loop().scratch;
  text.clear();
  http::append_interim_head(text, head);
  return write(text, {}, {});
}

bool Http1Session::begin_response(const http::ResponseHead& head, std::string_view extra, std::uint64_t ready_zstd) {
  Active& active = *active_;
  http::Exchange& exchange = active.exchange;
  if (exchange.watched) service_.handler().responding(exchange, head);
  active.body.keep_nothing();
  const bool old_client = exchange.head.minor_version == 0;
  if (exchange.route != nullptr && exchange.route->compress) {
    active.coding.begin(*exchange.route->compress, exchange, head, service_.encoders(), ready_zstd);
  }
  const bool unbounded =
      head.framing == Framing::chunked || head.framing == Framing::until_close || active.coding.encodes();
  active.chunked = unbounded && !old_client;
  if (unbounded && old_client) exchange.head.keep_alive = false;  // the close is what ends the body
  active.event_stream = is_event_stream(head);

  http::ResponseEdit edit;
  edit.rewrite = exchange.route == nullptr ? nullptr : &exchange.route->rewrite;
  edit.client_minor_version = exchange.head.minor_version;
  edit.keep_alive = will_keep_alive();
  edit.chunked = active.chunked;
  edit.has_length = head.has_content_length && !active.coding.changes_length();
  edit.length = head.content_length;
  if (active.coding.takes_ready()) {
    edit.has_length = true;
    edit.length = ready_zstd;
  }
  edit.date = service_.loop().http_date();
  edit.extra = extra;
  std::string lines;
  if (active.coding.edits()) {
    lines = extra;
    active.coding.append_fields(lines, head);
    edit.extra = lines;
    edit.filter = &active.coding;
  }
  active.head_out.clear();
  http::append_response_head(active.head_out, exchange, head, edit);
  exchange.status = head.status;
  return active.coding.takes_ready();
}

bool Http1Session::send_body(std::string_view piece, bool last, std::string_view trailers) {
  Active& active = *active_;
  http::Exchange& exchange = active.exchange;
  exchange.head_sent = true;
  exchange.stop = Stop::write;
  if (!piece.empty() && active.event_stream) {
    active.last_bytes[0] = piece.size() > 1 ? piece[piece.size() - 2] : active.last_bytes[1];
    active.last_bytes[1] = piece.back();
  }
  if (active.coding.encodes()) {
    active.coded.clear();
    if (!active.coding.encode(piece, last, active.coded)) {
      exchange.fail(ErrorKind::internal, Stop::response_filters, active.coding.error());
      return fail_later();
    }
    piece = active.coded;
    trailers = {};  // some speak of the bytes as they were; nobody has to keep any (RFC 9110 section 6.5.1)
  }
  exchange.bytes_out += piece.size();
  active.tail_out.clear();
  if (active.chunked) {
    if (!piece.empty()) {
      http::append_chunk_size(active.head_out, piece.size());
      active.tail_out = "\r\n";
    }
    if (last) active.tail_out.append("0\r\n").append(trailers).append("\r\n");
  }
  const bool taken = write(active.head_out, piece, active.tail_out);
  active.head_out.clear();  // what was not taken of it, the outbox has kept
  return taken;
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
  return fail_later();
}

// The caller is in the middle of its work: tell it from the event loop.
bool Http1Session::fail_later() {
  boost::asio::post(service_.loop().context, [self = boost::intrusive_ptr<Http1Session>(this), run = active_->run] {
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
  if (active.abort_when_drained) return abort();
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

void Http1Session::break_response(ErrorKind kind, std::string_view detail) {
  Active& active = *active_;
  http::Exchange& exchange = active.exchange;
  if (!exchange.head_sent) return fail(kind, detail);
  exchange.fail(kind, Stop::dispatch, detail);
  if (!active.event_stream || !active.out.empty() || !active.chunked) return abort();
  active.run.reset();
  std::string event = active.last_bytes[1] == '\n' && active.last_bytes[0] == '\n' ? "" : "\n\n";
  event.append("data: ").append(http::error_reply(kind, detail).body).append("\n");
  if (active.coding.encodes()) {
    std::string coded;
    if (!active.coding.encode(event, false, coded)) return abort();
    event = std::move(coded);
  }
  std::string& text = service_.loop().scratch;
  text.clear();
  http::append_chunk_size(text, event.size());
  text.append(event).append("\r\n");
  active.abort_when_drained = true;
  if (write(text, {}, {})) abort();
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

bool Http1Session::switch_protocols(const http::ResponseHead& head) {
  Active& active = *active_;
  http::Exchange& exchange = active.exchange;
  exchange.tunnel = exchange.head_sent = true;
  exchange.status = 101;
  active.body.become_raw({active.next.data(), active.next_size});
  http::ResponseEdit edit;
  edit.rewrite = &exchange.route->rewrite;
  edit.switching = true;
  edit.date = service_.loop().http_date();
  std::string& text = service_.loop().scratch;
  text.clear();
  http::append_response_head(text, exchange, head, edit);
  return write(text, {}, {});
}

void Http1Session::shutdown_send() { socket_.shutdown_send(); }

}  // namespace brink::downstream
