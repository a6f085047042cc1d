#include "tests/sim/exchange.hpp"

#include <algorithm>
#include <ctime>

namespace brink::sim {
namespace {

constexpr std::string_view bad_chunk = "zz\r\nthis is no chunk size\r\n";

}  // namespace

Exchange::Exchange(Context& context, Connection& connection, Work work, AnswerShape shape)
    : context_(context),
      connection_(connection),
      work_(std::move(work)),
      shape_(std::move(shape)),
      timer_(context.io),
      generation_(std::get_if<Generation>(&work_.what)) {
  if (work_.counted) ++context_.counters.started;
}

Exchange::~Exchange() {
  if (id_) context_.driver.cancel(*id_);
  if (!work_.counted) return;
  Counters& counters = context_.counters;
  switch (outcome_) {
    case Outcome::open:
      ++counters.aborted;
      break;
    case Outcome::finished:
      ++counters.finished;
      if (generation_ != nullptr && generation_->cut_by_limit) ++counters.finished_length;
      break;
    case Outcome::rejected:
      ++counters.rejected;
      break;
    case Outcome::faulted:
      ++counters.faulted;
      break;
  }
}

void Exchange::start() {
  if (work_.faults.latency) {
    after(Clock::now() + *work_.faults.latency, &Exchange::respond);
  } else {
    respond();
  }
}

void Exchange::respond() {
  const FaultSet& faults = work_.faults;
  if (faults.reset) return end(Ending::reset, Outcome::faulted);
  if (faults.hang) return;  // until the client leaves
  if (faults.status) {
    Reply reply = error_reply({.status = *faults.status, .message = "a fault that was asked for", .type = "sim_fault"});
    if (faults.retry_after) reply.headers = {{"retry-after", std::to_string(*faults.retry_after)}};
    return send_reply(reply, Outcome::faulted);
  }
  if (generation_ == nullptr) return send_reply(std::get<Reply>(work_.what), Outcome::rejected);
  const char* prefix = generation_->api == Api::chat ? "chatcmpl-" : "cmpl-";
  renderer_.emplace(*generation_, prefix + std::to_string(++context_.last_answer), std::time(nullptr));
  if (generation_->stream && (context_.config.early_head || faults.late_first_token)) send_head();
  if (faults.late_first_token) hold(*faults.late_first_token);
  id_ = context_.driver.submit(weak_from_this(), generation_->prompt, generation_->output_tokens);
}

void Exchange::on_event(const Event& event) {
  switch (event.kind) {
    case EventKind::first_token:
    case EventKind::token:
      if (generation_->stream) send_tokens(event);
      break;
    case EventKind::finished:
      id_.reset();
      if (generation_->stream) {
        finish_stream(event);
      } else {
        send_body(renderer_->plain(event.cached_tokens));
      }
      break;
    case EventKind::rejected:
      id_.reset();
      reject(event.rejection);
      break;
  }
}

void Exchange::reject(Rejection reason) {
  const ApiError error = reason == Rejection::too_long
                             ? ApiError{.message = "prompt and answer are longer than the model's context",
                                        .code = "context_length_exceeded",
                                        .param = "messages"}
                             : ApiError{.status = 503,
                                        .message = "the engine's queue is full, try again later",
                                        .type = "service_unavailable_error",
                                        .code = "server_is_overloaded"};
  if (!head_sent_) return send_reply(error_reply(error), Outcome::rejected);
  // The status is gone already; the error goes as an event, which is how clients learn of one in mid-stream.
  emit(frame("data: " + error_json(error) + "\n\n"));
  if (shape_.chunked) emit(last_chunk);
  end(Ending::answered, Outcome::rejected);
}

void Exchange::send_reply(const Reply& reply, Outcome outcome) {
  emit(answer_head(context_.config.name, shape_, reply, reply.body.size()));
  if (!shape_.head_only) emit(reply.body);
  end(Ending::answered, outcome);
}

void Exchange::send_head() {
  if (head_sent_) return;
  head_sent_ = true;
  Reply reply{.content_type = "text/event-stream; charset=utf-8", .headers = {{"cache-control", "no-cache"}}};
  emit(answer_head(context_.config.name, shape_, reply, std::nullopt));
}

void Exchange::send_body(std::string body) {
  const FaultSet& faults = work_.faults;
  const std::string_view half = std::string_view(body).substr(0, body.size() / 2);
  if (faults.malformed_after) {
    emit(answer_head(context_.config.name, shape_, {}, std::nullopt));
    emit(frame(half));
    emit(bad_chunk);
    return end(Ending::cut, Outcome::faulted);
  }
  emit(answer_head(context_.config.name, shape_, {}, body.size()));
  emit(half);
  if (faults.cut_after) return end(Ending::cut, Outcome::faulted);
  if (faults.stall_after) hold(faults.stall_for);
  emit(std::string_view(body).substr(half.size()));
  end(Ending::answered, Outcome::finished);
}

void Exchange::send_tokens(const Event& event) {
  send_head();
  if (break_stream()) return;
  if (event.kind == EventKind::first_token) {
    const std::string opening = renderer_->opening();
    if (!opening.empty()) emit(frame(opening));
  }
  emit(frame(renderer_->token(sent_)));
  ++sent_;
}

void Exchange::finish_stream(const Event& event) {
  if (break_stream()) return;
  emit(frame(renderer_->closing()));
  if (generation_->include_usage) emit(frame(renderer_->usage(event.cached_tokens)));
  if (!work_.faults.no_done) emit(frame(Renderer::done));
  if (shape_.chunked) emit(last_chunk);
  end(Ending::answered, work_.faults.no_done ? Outcome::faulted : Outcome::finished);
}

// The faults that wait for a number of tokens, looked at before the next one. True when the exchange has ended.
bool Exchange::break_stream() {
  const FaultSet& faults = work_.faults;
  if (!stalled_ && faults.stall_after && sent_ >= *faults.stall_after) {
    stalled_ = true;
    hold(faults.stall_for);
  }
  const bool malformed = faults.malformed_after && sent_ >= *faults.malformed_after;
  const bool cut = faults.cut_after && sent_ >= *faults.cut_after;
  if (malformed) emit(bad_chunk);
  if (malformed || cut) end(Ending::cut, Outcome::faulted);
  return malformed || cut;
}

std::string Exchange::frame(std::string_view data) const { return shape_.chunked ? chunk(data) : std::string(data); }

void Exchange::emit(std::string_view bytes) {
  if (holding_) {
    held_.append(bytes);
  } else {
    connection_.write(bytes);
  }
}

// Must be the caller's last act: the connection may destroy this.
void Exchange::end(Ending ending, Outcome outcome) {
  if (id_) context_.driver.cancel(*id_);
  id_.reset();
  held_end_ = {ending, outcome};
  if (holding_) return;  // the client may still leave first, so the outcome stays open
  outcome_ = outcome;
  switch (ending) {
    case Ending::answered:
      return connection_.answered();
    case Ending::cut:
      return connection_.cut();
    case Ending::reset:
      return connection_.reset();
  }
}

// Nothing goes out for this long, or for good. Of two holds the longer counts.
void Exchange::hold(std::optional<Delay> duration) {
  const auto until = duration ? Clock::now() + *duration : Clock::time_point::max();
  hold_until_ = holding_ ? std::max(hold_until_, until) : until;
  holding_ = true;
  timer_.cancel();
  if (hold_until_ != Clock::time_point::max()) after(hold_until_, &Exchange::let_go);
}

void Exchange::let_go() {
  holding_ = false;
  connection_.write(held_);
  held_.clear();
  if (held_end_) end(held_end_->first, held_end_->second);
}

void Exchange::after(Clock::time_point time, void (Exchange::*next)()) {
  timer_.expires_at(time);
  timer_.async_wait([weak = weak_from_this(), next](error_code ec) {
    const auto self = weak.lock();
    if (!ec && self) ((*self).*next)();
  });
}

}  // namespace brink::sim
