#include "cache/redis/subscriber.hpp"

#include <boost/asio/steady_timer.hpp>
#include <initializer_list>
#include <random>
#include <utility>

#include "cache/redis/breaker.hpp"
#include "cache/redis/connection.hpp"
#include "cache/redis/locator.hpp"

namespace brink::cache::redis {

using boost::system::error_code;

class Subscriber::Impl final : public std::enable_shared_from_this<Impl>, public Connection::Owner {
 public:
  Impl(boost::asio::io_context& context, Options options, std::string channel, Handlers handlers, Timing timing)
      : context_(context),
        options_(std::move(options)),
        channel_(std::move(channel)),
        handlers_(std::move(handlers)),
        timing_(timing),
        tls_(make_tls_context(options_)),
        timer_(context) {
    if (options_.mode == Options::Mode::sentinel) {
      locator_ = Locator::sentinel(context, options_, tls_);
    } else if (options_.mode == Options::Mode::cluster) {
      locator_ = Locator::rotating(options_.nodes);
    } else {
      locator_ = Locator::fixed(options_.nodes.front());
    }
  }

  void connect();
  void close();
  bool subscribed() const { return subscribed_; }

 private:
  void on_located(std::optional<Node> node, const std::string& why);
  void on_open() override;
  void on_reply(Reply&& reply) override;
  void on_pause() override {}
  void on_written() override;
  void on_loss(Connection::Loss /*loss*/, const std::string& why) override { lost(why); }

  void write(std::initializer_list<std::string_view> args);
  void wait(Clock::duration delay, void (Impl::*then)());
  void ping();
  void no_answer() { lost("no answer in time"); }
  void lost(const std::string& why);

  boost::asio::io_context& context_;
  const Options options_;
  const std::string channel_;
  const Handlers handlers_;
  const Timing timing_;
  const TlsContext tls_;
  boost::asio::steady_timer timer_;  // the one thing waited for: time to connect, to ping, or an answer that is late
  std::unique_ptr<Locator> locator_;
  std::shared_ptr<Connection> connection_;
  Node node_;
  Wire next_;  // to be written once the write under way is over
  std::string trouble_;
  bool subscribed_ = false, waits_for_pong_ = false, closed_ = false;
  std::uint64_t turn_ = 0;  // of waiting: one that ended just before it was replaced says nothing
  int failures_ = 0;
  unsigned attempt_ = 0;
  std::minstd_rand generator_{std::random_device{}()};
};

void Subscriber::Impl::connect() {
  locator_->find([weak = weak_from_this()](std::optional<Node> node, const std::string& why) {
    if (const auto self = weak.lock(); self && !self->closed_) self->on_located(std::move(node), why);
  });
}

void Subscriber::Impl::on_located(std::optional<Node> node, const std::string& why) {
  if (!node) return lost(why);
  node_ = std::move(*node);
  Login login;
  login.user = options_.user;
  login.password = options_.password;
  login.needs_master = options_.mode == Options::Mode::sentinel;
  login.timeout = options_.connect_timeout;
  login.max_reply_bytes = options_.max_reply_bytes;
  login.insecure = options_.insecure;
  connection_ = std::make_shared<Connection>(context_, *this, node_, tls_, login);
  connection_->start(attempt_++);
}

void Subscriber::Impl::on_open() {
  write({"SUBSCRIBE", channel_});
  wait(timing_.pong_timeout, &Impl::no_answer);
}

void Subscriber::Impl::write(std::initializer_list<std::string_view> args) {
  next_ = Wire(std::span(args.begin(), args.size()));
  if (!connection_->writing()) on_written();
}

void Subscriber::Impl::on_written() {
  if (next_.size() == 0) return;
  const auto keep = std::make_shared<const Wire>(std::exchange(next_, {}));
  connection_->write(keep->view(), keep);
}

// In this state RESP2 answers with arrays: what it is, the channel, and the message, or for PING just "pong" and "".
void Subscriber::Impl::on_reply(Reply&& reply) {
  const auto self = shared_from_this();
  if (reply.is_error()) return lost("SUBSCRIBE or PING refused: " + reply.text);
  if (reply.type != Reply::Type::array || reply.elements.size() < 2) {
    return lost("a reply that nobody asked for");
  }
  const std::string& kind = reply.elements[0].text;
  if (kind == "subscribe" && !subscribed_) {
    subscribed_ = true;
    failures_ = 0;
    trouble_.clear();
    wait(timing_.ping_interval, &Impl::ping);
    if (handlers_.on_restored) handlers_.on_restored();
  } else if (kind == "pong" && waits_for_pong_) {
    waits_for_pong_ = false;
    wait(timing_.ping_interval, &Impl::ping);
  } else if (kind == "message" && reply.elements.size() == 3) {
    if (handlers_.on_message) handlers_.on_message(std::move(reply.elements[2].text));
  } else {
    lost("a reply that nobody asked for");
  }
}

void Subscriber::Impl::ping() {
  waits_for_pong_ = true;
  write({"PING"});
  wait(timing_.pong_timeout, &Impl::no_answer);
}

void Subscriber::Impl::wait(Clock::duration delay, void (Impl::*then)()) {
  timer_.expires_after(delay);
  timer_.async_wait([weak = weak_from_this(), then, turn = ++turn_](const error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->closed_ && self->turn_ == turn) ((*self).*then)();
  });
}

void Subscriber::Impl::lost(const std::string& why) {
  const auto self = shared_from_this();
  if (connection_) std::exchange(connection_, nullptr)->close();
  next_ = {};
  waits_for_pong_ = false;
  const bool was_subscribed = std::exchange(subscribed_, false);
  ++failures_;
  const double random = std::uniform_real_distribution<double>(0, 1)(generator_);
  wait(reconnect_delay(failures_, random), &Impl::connect);
  const std::string text = "Redis " + node_.text() + ": " + why;
  if (was_subscribed) {
    if (handlers_.on_lost) handlers_.on_lost(text);
  } else if (std::exchange(trouble_, why) != why && handlers_.on_trouble) {
    handlers_.on_trouble(text);
  }
}

void Subscriber::Impl::close() {
  closed_ = true;
  timer_.cancel();
  if (connection_) std::exchange(connection_, nullptr)->close();
}

Subscriber::Subscriber(boost::asio::io_context& context, Options options, std::string channel, Handlers handlers,
                       Timing timing)
    : impl_(std::make_shared<Impl>(context, std::move(options), std::move(channel), std::move(handlers), timing)) {
  impl_->connect();
}

Subscriber::~Subscriber() { impl_->close(); }

bool Subscriber::connected() const { return impl_->subscribed(); }

}  // namespace brink::cache::redis
