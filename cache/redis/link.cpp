#include "cache/redis/link.hpp"

#include <utility>
#include <vector>

namespace brink::cache::redis {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;

// A reply this many timeouts late is taken for one that never comes.
constexpr int overdue_timeouts = 10;
// A connection that held this long was a good one, even if nobody used it.
constexpr auto held_long = 1s;

Login login_of(const Options& options) {
  Login login;
  login.user = options.user;
  login.password = options.password;
  login.database = options.database;
  login.needs_master = options.mode == Options::Mode::sentinel;
  login.timeout = options.connect_timeout;
  login.max_reply_bytes = options.max_reply_bytes;
  login.insecure = options.insecure;
  return login;
}

// Errors that say "this server cannot serve now". Others, a full memory (OOM) too, concern one command: reads go on.
bool is_sick(const Reply& reply) {
  for (const char* kind : {"LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "NOAUTH", "NOREPLICAS", "MISCONF"}) {
    if (reply.is_error(kind)) return true;
  }
  return false;
}

}  // namespace

Link::Link(boost::asio::io_context& context, Owner& owner, const Options& options, TlsContext tls,
           std::unique_ptr<Locator> locator)
    : context_(context),
      deadline_timer_(context),
      connect_timer_(context),
      owner_(&owner),
      login_(login_of(options)),
      overdue_(options.timeout * overdue_timeouts),
      tls_(std::move(tls)),
      locator_(std::move(locator)),
      pipeline_(options.max_in_flight, options.max_queued_bytes),
      node_(options.nodes.front()) {}

void Link::start() {
  if (!connecting_ && !connection_) connect();
}

void Link::connect() {
  connecting_ = true;
  locator_->find([weak = weak_from_this()](std::optional<Node> node, const std::string& why) {
    if (const auto self = weak.lock(); self && self->owner_ != nullptr) self->on_located(std::move(node), why);
  });
}

void Link::on_located(std::optional<Node> node, const std::string& why) {
  if (!node) return drop(Connection::Loss::connect, why);
  node_ = std::move(*node);
  connection_ = std::make_shared<Connection>(context_, *this, node_, tls_, login_);
  connection_->start(attempt_++);
}

void Link::on_open() {
  connecting_ = false;
  opened_ = Clock::now();
  breaker_.hint(opened_);
  tell(true, "connected");
  if (owner_ == nullptr) return;
  trouble_.clear();
  flush();
}

bool Link::available() const {
  return (failures_ == 0 || (connection_ && connection_->open())) && breaker_.would_allow(Clock::now());
}

ErrorKind Link::send(std::uint64_t id, const Wire& wire, unsigned replies, Time deadline) {
  start();
  const bool open = connection_ && connection_->open();
  if (!open && failures_ > 0) return ErrorKind::unavailable;
  if (!breaker_.allow(Clock::now())) return ErrorKind::unavailable;
  if (!pipeline_.push(id, wire, replies, deadline)) {
    breaker_.take_back();
    return ErrorKind::refused;
  }
  flush();
  arm(deadline);
  return ErrorKind::none;
}

void Link::flush() {
  if (corked_ || !connection_ || !connection_->open() || connection_->writing()) return;
  Pipeline::Batch batch = pipeline_.take(Clock::now());
  if (!batch.bytes.empty()) connection_->write(batch.bytes, std::move(batch.keep));
}

void Link::on_written() {
  pipeline_.written();
  flush();
}

void Link::on_reply(Reply&& reply) {
  const auto self = shared_from_this();
  std::uint64_t id = 0;
  switch (pipeline_.match(id)) {
    case Pipeline::Match::unexpected:
      return drop(Connection::Loss::protocol, "a reply that nobody asked for");
    case Pipeline::Match::skip:
      return;
    case Pipeline::Match::answer:
      break;
  }
  const bool good = !is_sick(reply), lost_role = login_.needs_master && reply.is_error("READONLY");
  if (good) failures_ = 0;
  count(good, reply.text);
  if (owner_ == nullptr) return;
  Result result;
  if (reply.is_error()) {
    result.error = ErrorKind::server;
    result.text = reply.text;
  }
  result.reply = std::move(reply);
  corked_ = true;
  owner_->on_answer(*this, id, std::move(result));
  if (owner_ != nullptr && lost_role) drop(Connection::Loss::connect, "no master any more");
}

void Link::on_pause() {
  corked_ = false;
  flush();
}

// Moving the timer forward happens only when a command is due sooner than all before it: replies leave it alone.
void Link::arm(Time wake) {
  if (wake >= armed_) return;
  armed_ = wake;
  deadline_timer_.expires_at(wake);
  deadline_timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->owner_ != nullptr) self->on_deadline();
  });
}

void Link::on_deadline() {
  armed_ = Time::max();
  const Time now = Clock::now();
  for (const std::uint64_t id : pipeline_.expire(now)) {
    count(false, "timeout");
    if (owner_ == nullptr) return;
    answer(id, ErrorKind::timeout, "no answer in time");
    if (owner_ == nullptr) return;
  }
  if (pipeline_.overdue(now, overdue_)) return drop(Connection::Loss::connect, "does not answer");
  arm(pipeline_.next_wake(overdue_));
}

void Link::on_loss(Connection::Loss loss, const std::string& why) {
  const auto self = shared_from_this();
  drop(loss, why);
}

// A connection that held is opened again at once when it ends, by a restart or an idle limit of the server, and
// commands not yet sent wait for the new one. After any other loss all commands fail until one opens.
void Link::drop(Connection::Loss loss, const std::string& why) {
  if (connection_) std::exchange(connection_, nullptr)->close();
  corked_ = false;
  const bool was_open = !connecting_;
  const bool held = loss == Connection::Loss::lost && Clock::now() - opened_ >= held_long;
  failures_ = held ? 0 : failures_ + 1;
  const std::vector<std::uint64_t> waiting = pipeline_.clear(failures_ == 0);
  connect_later();
  if (std::exchange(trouble_, why) != why || was_open) tell(false, why);
  const ErrorKind kind = loss == Connection::Loss::protocol ? ErrorKind::protocol : ErrorKind::unavailable;
  for (const std::uint64_t id : waiting) {
    if (owner_ == nullptr) return;
    breaker_.take_back();
    answer(id, kind, why);
  }
}

void Link::connect_later() {
  connecting_ = true;
  connect_timer_.expires_after(reconnect_delay(failures_, random()));
  connect_timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->owner_ != nullptr) self->connect();
  });
}

void Link::answer(std::uint64_t id, ErrorKind error, const std::string& text) {
  owner_->on_answer(*this, id, {error, text, {}});
}

void Link::count(bool good, const std::string& why) {
  if (good) {
    if (breaker_.success()) tell(true, "answers again");
  } else if (breaker_.failure(Clock::now(), random())) {
    trouble_ = why;
    tell(false, "not asked for " + std::to_string(breaker_.pause().count()) + " ms after failures, the last: " + why);
  }
}

void Link::tell(bool up, const std::string& text) {
  if (owner_ != nullptr) owner_->on_state(up, "Redis " + node_.text() + ": " + text);
}

void Link::close() {
  if (owner_ == nullptr) return;
  owner_ = nullptr;
  deadline_timer_.cancel();
  connect_timer_.cancel();
  if (connection_) std::exchange(connection_, nullptr)->close();
}

}  // namespace brink::cache::redis
