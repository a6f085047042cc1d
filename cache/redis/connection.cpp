#include "cache/redis/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace brink::cache::redis {

namespace asio = boost::asio;
using boost::system::error_code;

Connection::Connection(asio::io_context& context, Owner& owner, Node node, TlsContext tls, Login login)
    : timer_(context),
      owner_(&owner),
      node_(std::move(node)),
      login_(std::move(login)),
      tls_(std::move(tls)),
      stream_(Stream::make(context, node_, tls_, login_.insecure)),
      reader_(login_.max_reply_bytes) {}

void Connection::start(unsigned attempt) {
  timer_.expires_after(login_.timeout);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->state_ == State::open) return;
    self->fail(Loss::connect, self->state_ == State::opening ? "cannot connect in time" : "no answer in time");
  });
  stream_->connect(attempt, [self = shared_from_this()](const error_code& error, std::size_t) {
    if (self->state_ != State::closed) self->connected(error);
  });
}

void Connection::connected(const error_code& error) {
  if (error) return fail(Loss::connect, error.message());
  state_ = State::login;
  log_in();
  read();
}

// All in one write. PING, because connecting proves only that the kernel is awake.
void Connection::log_in() {
  std::string bytes;
  const auto add = [&](Step step, std::initializer_list<std::string_view> args) {
    bytes += Wire(std::span(args.begin(), args.size())).view();
    steps_.insert(steps_.begin(), step);
  };
  if (!login_.password.empty() && login_.user.empty()) add(Step::auth, {"AUTH", login_.password});
  if (!login_.user.empty()) add(Step::auth, {"AUTH", login_.user, login_.password});
  const std::string database = std::to_string(login_.database);
  if (login_.database != 0) add(Step::select, {"SELECT", database});
  if (login_.needs_master) add(Step::role, {"ROLE"});
  add(Step::ping, {"PING"});
  auto keep = std::make_shared<const std::string>(std::move(bytes));
  const std::string_view view = *keep;
  write(view, std::move(keep));
}

void Connection::write(std::string_view bytes, std::shared_ptr<const void> keep) {
  writing_ = true;
  stream_->write(asio::buffer(bytes.data(), bytes.size()),
                 [self = shared_from_this(), keep = std::move(keep)](const error_code& error, std::size_t) {
                   if (self->state_ == State::closed) return;
                   self->writing_ = false;
                   if (error) return self->fail(Loss::lost, error.message());
                   if (self->state_ == State::open) self->owner_->on_written();
                 });
}

void Connection::read() {
  stream_->read_some(asio::buffer(input_), [self = shared_from_this()](const error_code& error, std::size_t size) {
    if (self->state_ == State::closed) return;
    if (error) {
      return self->fail(Loss::lost, error == asio::error::eof ? "closed by the server" : error.message());
    }
    self->on_bytes(size);
  });
}

void Connection::on_bytes(std::size_t size) {
  reader_.feed({input_.data(), size});
  while (auto reply = reader_.next()) {
    if (state_ == State::login) {
      on_login_reply(*reply);
    } else {
      owner_->on_reply(std::move(*reply));
    }
    if (state_ == State::closed) return;
  }
  if (reader_.failed()) return fail(Loss::protocol, "unreadable reply: " + reader_.error());
  if (state_ == State::open) owner_->on_pause();
  if (state_ != State::closed) read();
}

void Connection::on_login_reply(const Reply& reply) {
  const Step step = steps_.back();
  steps_.pop_back();
  switch (step) {
    case Step::auth:
      if (reply.is_error()) return fail(Loss::connect, "AUTH refused: " + reply.text);
      break;
    case Step::select:
      if (reply.is_error()) return fail(Loss::connect, "SELECT refused: " + reply.text);
      break;
    case Step::role:
      if (reply.is_error()) return fail(Loss::connect, "ROLE refused: " + reply.text);
      if (reply.elements.empty() || reply.elements[0].text != "master") return fail(Loss::connect, "not a master");
      break;
    case Step::ping:
      // A user without the right to PING has been answered all the same.
      if (reply.is_error() && !reply.is_error("NOPERM")) return fail(Loss::connect, "not ready: " + reply.text);
      if (!reply.is_error() && reply.text != "PONG")
        return fail(Loss::protocol, "no Redis: PING was answered otherwise");
      state_ = State::open;
      timer_.cancel();
      owner_->on_open();
      break;
  }
}

void Connection::fail(Loss loss, const std::string& why) {
  if (state_ == State::closed) return;
  const bool opening = state_ != State::open;
  Owner* owner = owner_;
  const auto self = shared_from_this();  // the owner lets go of it
  close();
  owner->on_loss(opening && loss == Loss::lost ? Loss::connect : loss, why);
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  owner_ = nullptr;
  timer_.cancel();
  stream_->close();
}

}  // namespace brink::cache::redis
