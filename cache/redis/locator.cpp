#include "cache/redis/locator.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <utility>
#include <vector>

#include "cache/redis/connection.hpp"

namespace brink::cache::redis {
namespace {

class Rotating : public Locator {
 public:
  explicit Rotating(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}
  void find(Found found) override { found(nodes_[next_++ % nodes_.size()], {}); }

 private:
  const std::vector<Node> nodes_;
  std::size_t next_ = 0;
};

class Sentinel final : public Locator, public Connection::Owner {
 public:
  Sentinel(boost::asio::io_context& context, const Options& options, TlsContext tls)
      : context_(context), timer_(context), options_(options), tls_(std::move(tls)), sentinels_(options.nodes) {}
  Sentinel(const Sentinel&) = delete;
  Sentinel& operator=(const Sentinel&) = delete;
  ~Sentinel() override {
    if (connection_) connection_->close();
  }

  void find(Found found) override {
    found_ = std::move(found);
    asked_ = 0;
    why_.clear();
    ask();
  }

 private:
  void ask() {
    Login login;
    login.user = options_.sentinel_user;
    login.password = options_.sentinel_password;
    login.timeout = options_.connect_timeout;
    login.max_reply_bytes = 65'536;
    login.insecure = options_.insecure;
    connection_ = std::make_shared<Connection>(context_, *this, sentinels_.front(), tls_, login);
    connection_->start(attempt_);
  }

  void on_open() override {
    timer_.expires_after(options_.connect_timeout);
    timer_.async_wait([this, asked = std::weak_ptr(connection_)](const boost::system::error_code& error) {
      const auto connection = asked.lock();
      if (error || !connection || !connection->open() || connection != connection_) return;
      next("no answer in time");
    });
    const std::string_view args[] = {"SENTINEL", "get-master-addr-by-name", options_.master_name};
    question_ = Wire(args);
    if (!connection_->writing()) on_written();
  }

  void on_written() override {
    if (question_.size() == 0) return;
    const auto keep = std::make_shared<const Wire>(std::exchange(question_, {}));
    connection_->write(keep->view(), keep);
  }

  void on_reply(Reply&& reply) override {
    Node node;
    if (reply.type == Reply::Type::nil) return next("does not know the master " + options_.master_name);
    if (reply.is_error()) return next(reply.text);
    if (!read(reply, node)) return next("answered no address");
    end();
    const Found found = std::exchange(found_, nullptr);
    found(std::move(node), {});
  }

  static bool read(const Reply& reply, Node& node) {
    if (reply.elements.size() != 2 || reply.elements[0].text.empty()) return false;
    node.host = reply.elements[0].text;
    const std::string& port = reply.elements[1].text;
    const auto [last, error] = std::from_chars(port.data(), port.data() + port.size(), node.port);
    return error == std::errc() && last == port.data() + port.size() && node.port != 0;
  }

  void on_pause() override {}
  void on_loss(Connection::Loss /*loss*/, const std::string& why) override { next(why); }

  void end() {
    timer_.cancel();
    if (connection_) connection_->close();
    connection_ = nullptr;
    question_ = {};
  }

  // The one that answered stays first: the next search begins with it.
  void next(const std::string& why) {
    if (!why_.empty()) why_ += "; ";
    why_ += "sentinel " + sentinels_.front().text() + ": " + why;
    end();
    ++attempt_;
    std::rotate(sentinels_.begin(), sentinels_.begin() + 1, sentinels_.end());
    if (++asked_ < sentinels_.size()) return ask();
    const Found found = std::exchange(found_, nullptr);
    const std::string reason = why_;
    found(std::nullopt, reason);
  }

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  const Options options_;
  const TlsContext tls_;
  std::vector<Node> sentinels_;
  std::shared_ptr<Connection> connection_;
  Wire question_;
  Found found_;
  std::string why_;
  std::size_t asked_ = 0;
  unsigned attempt_ = 0;
};

}  // namespace

std::unique_ptr<Locator> Locator::fixed(Node node) { return rotating({std::move(node)}); }

std::unique_ptr<Locator> Locator::rotating(std::vector<Node> nodes) {
  return std::make_unique<Rotating>(std::move(nodes));
}

std::unique_ptr<Locator> Locator::sentinel(boost::asio::io_context& context, const Options& options, TlsContext tls) {
  return std::make_unique<Sentinel>(context, options, std::move(tls));
}

}  // namespace brink::cache::redis
