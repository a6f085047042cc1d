#include "router/endpoint_state.hpp"

namespace brink::router {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// In units of a prompt byte. An engine's decode step takes about as long as reading 1.5 KB of prompt. A request that
// waits costs its prompt and, because engines admit at step ends only, two steps; what a running one still has to
// generate is worth about four, of which 15 % delay a newcomer. Measured on two engine shapes; half or double changes
// p99 by 2 %.
constexpr double step = 1500;
constexpr double admission = 2 * step;
constexpr double rest_of_answer = 4 * step;
constexpr double delay_share = 0.15;

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

}  // namespace

Work EndpointState::work(std::uint64_t request_bytes) const {
  const double capacity = weight.load(relaxed);
  const double running = in_flight.load(relaxed) * rest_of_answer + static_cast<double>(in_flight_bytes.load(relaxed));
  const double queue = waiting.load() * admission + static_cast<double>(waiting_bytes.load(relaxed));
  return {step + static_cast<double>(request_bytes), queue / capacity, delay_share * running / capacity};
}

Flight::Flight(EndpointState& endpoint, Time now, std::uint64_t request_bytes)
    : endpoint_(&endpoint),
      start_(now),
      bytes_(request_bytes),
      work_(endpoint.work(request_bytes).sum()),
      open_(true),
      trial_(endpoint.ejection.phase(now) == Ejection::Phase::trial) {
  if (trial_) endpoint.ejection.trial_started();
  endpoint.requests.fetch_add(1, relaxed);
  endpoint.in_flight.fetch_add(1, relaxed);
  endpoint.in_flight_bytes.fetch_add(bytes_, relaxed);
  endpoint.waiting.add(start_);
  endpoint.waiting_bytes.fetch_add(bytes_, relaxed);
}

Flight::Flight(Flight&& other) noexcept
    : endpoint_(std::exchange(other.endpoint_, nullptr)),
      start_(other.start_),
      first_byte_(other.first_byte_),
      bytes_(other.bytes_),
      work_(other.work_),
      open_(std::exchange(other.open_, false)),
      got_first_byte_(other.got_first_byte_),
      learned_(other.learned_),
      trial_(other.trial_) {}

Flight& Flight::operator=(Flight&& other) noexcept {
  if (this == &other) return *this;
  this->~Flight();
  return *new (this) Flight(std::move(other));
}

Flight::~Flight() {
  if (open_) count({}, Outcome::cancelled);
}

void Flight::leave_queue() {
  endpoint_->waiting.remove(start_);
  endpoint_->waiting_bytes.fetch_sub(bytes_, relaxed);
}

void Flight::learn(Time first_byte) {
  learned_ = true;
  const auto took = first_byte - start_;
  endpoint_->cost.learn(first_byte, static_cast<double>(took.count()) / work_);
  const double before = endpoint_->first_byte_ms.load(relaxed);
  const double sample = milliseconds(took);
  endpoint_->first_byte_ms.store(before > 0 ? before + 0.1 * (sample - before) : sample, relaxed);
}

void Flight::first_byte(Time now, bool good) {
  if (!open_ || got_first_byte_) return;
  got_first_byte_ = true;
  first_byte_ = now;
  leave_queue();
  if (good) learn(now);
}

void Flight::usage(const Usage& tokens) {
  if (!open_) return;
  endpoint_->prompt_tokens.fetch_add(tokens.prompt_tokens, relaxed);
  endpoint_->cached_tokens.fetch_add(tokens.cached_tokens, relaxed);
  endpoint_->completion_tokens.fetch_add(tokens.completion_tokens, relaxed);
}

void Flight::finish(Time now, Outcome outcome) {
  if (!open_) return;
  if (outcome == Outcome::success && !learned_) learn(got_first_byte_ ? first_byte_ : now);
  if (outcome == Outcome::cancelled && !got_first_byte_)
    endpoint_->cost.learn_at_least(now, static_cast<double>((now - start_).count()) / work_);
  count(now, outcome);
}

void Flight::count(Time now, Outcome outcome) {
  open_ = false;
  if (!got_first_byte_) leave_queue();
  if (trial_) endpoint_->ejection.trial_ended();
  endpoint_->in_flight.fetch_sub(1, relaxed);
  endpoint_->in_flight_bytes.fetch_sub(bytes_, relaxed);
  switch (outcome) {
    case Outcome::success:
      endpoint_->successes.fetch_add(1, relaxed);
      return endpoint_->trouble.succeeded(now);
    case Outcome::rejected:
      endpoint_->rejections.fetch_add(1, relaxed);
      return;
    case Outcome::overloaded:
    case Outcome::failure:
      endpoint_->failures.fetch_add(1, relaxed);
      return endpoint_->trouble.failed(now);
    case Outcome::cancelled:
      endpoint_->cancellations.fetch_add(1, relaxed);
      return;
  }
}

}  // namespace brink::router
