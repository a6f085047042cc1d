#include "cache/redis/client.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/redis/cluster.hpp"
#include "cache/redis/link.hpp"

namespace brink::cache::redis {
namespace {

constexpr int most_redirects = 5;
constexpr int any_slot = -1;

struct Command {
  Callback done;
  Operation operation = Operation::other;
  bool counted = true;  // told to Events: not a part of a group, nor the question for the map
  bool for_map = false;
  Time start{}, deadline{};
  int slot = any_slot;
  int redirects = 0;
  Wire wire;  // kept in a cluster, to be sent again elsewhere
};

// DEL of several keys in a cluster: one command each.
struct Group {
  Callback done;
  Time start{};
  std::size_t left = 0;
  Result result;
};

}  // namespace

class Client::Impl final : public std::enable_shared_from_this<Impl>, public Link::Owner {
 public:
  Impl(boost::asio::io_context& context, Options options, Events events)
      : context_(context), options_(std::move(options)), events_(std::move(events)) {}

  void start();
  void close();

  Id issue(Operation operation, std::span<const std::string_view> args, std::size_t key, Callback done);
  Id del(std::span<const std::string> keys, Callback done);
  void cancel(Id id);
  bool available() const { return cluster_ ? cluster_->available() : link_->available(); }
  bool in_cluster() const { return cluster_ != nullptr; }

 private:
  void on_answer(Link& link, Id id, Result&& result) override;
  void on_state(bool up, const std::string& text) override;

  Id keep(Command command, std::span<const std::string_view> args);
  void send(Id id, Command& command);
  bool send_over(Link* link, Id id, const Command& command, bool ask);
  bool redirected(Link& link, Id id, Command& command, const Result& result);
  bool ask_for_map(Link& link);
  void fail_later(Id id, ErrorKind error, std::string text);
  void fail_now();
  void finish(Id id, Result&& result);
  void finish_part(Id group_id, Result&& result);
  void tell_done(Operation operation, const Result& result, Time start);

  boost::asio::io_context& context_;
  const Options options_;
  const Events events_;
  std::shared_ptr<Link> link_;  // but in a cluster
  std::shared_ptr<Cluster> cluster_;
  Id last_id_ = 0;
  std::unordered_map<Id, Command> commands_;
  std::unordered_map<Id, Group> groups_;
  std::vector<std::pair<Id, Result>> failed_;  // to be told once the call that failed is over
};

void Client::Impl::start() {
  TlsContext tls = make_tls_context(options_);
  if (options_.mode == Options::Mode::cluster) {
    cluster_ = std::make_shared<Cluster>(context_, *this, options_, std::move(tls),
                                         [this](Link& link) { return ask_for_map(link); });
    return cluster_->refresh();
  }
  auto locator = options_.mode == Options::Mode::sentinel ? Locator::sentinel(context_, options_, tls)
                                                          : Locator::fixed(options_.nodes.front());
  link_ = std::make_shared<Link>(context_, *this, options_, std::move(tls), std::move(locator));
  link_->start();
}

void Client::Impl::close() {
  if (link_) link_->close();
  if (cluster_) cluster_->close();
  commands_.clear();
  groups_.clear();
  failed_.clear();
}

Client::Id Client::Impl::issue(Operation operation, std::span<const std::string_view> args, std::size_t key,
                               Callback done) {
  Command command;
  command.done = std::move(done);
  command.operation = operation;
  command.start = Clock::now();
  command.deadline = command.start + options_.timeout;
  if (in_cluster() && key > 0 && key < args.size()) command.slot = static_cast<int>(key_slot(args[key]));
  return keep(std::move(command), args);
}

Client::Id Client::Impl::keep(Command command, std::span<const std::string_view> args) {
  const Id id = ++last_id_;
  Command& kept = commands_.emplace(id, std::move(command)).first->second;
  std::size_t size = 0;
  for (const std::string_view arg : args) size += std::min(arg.size(), options_.max_queued_bytes);
  if (args.empty() || size > options_.max_queued_bytes) {
    fail_later(id, ErrorKind::refused, args.empty() ? "no command" : "the command is too large");
    return id;
  }
  kept.wire = Wire(args);
  send(id, kept);
  return id;
}

void Client::Impl::send(Id id, Command& command) {
  Link* link = link_.get();
  if (cluster_) link = command.slot == any_slot ? cluster_->any() : cluster_->find(static_cast<unsigned>(command.slot));
  if (!send_over(link, id, command, false)) return;
  if (!cluster_) command.wire = {};
}

bool Client::Impl::send_over(Link* link, Id id, const Command& command, bool ask) {
  Wire wire = command.wire;
  if (ask) {
    static constexpr std::string_view asking[] = {"ASKING"};
    wire = Wire(asking).followed_by(wire);
  }
  const ErrorKind error =
      link == nullptr ? ErrorKind::unavailable : link->send(id, wire, ask ? 2 : 1, command.deadline);
  if (error == ErrorKind::none) return true;
  std::string text = error == ErrorKind::refused ? "too much waits already" : "not available";
  if (error == ErrorKind::unavailable && link != nullptr && !link->trouble().empty()) text += ": " + link->trouble();
  fail_later(id, error, std::move(text));
  if (cluster_ && error == ErrorKind::unavailable) cluster_->refresh();
  return false;
}

bool Client::Impl::ask_for_map(Link& link) {
  if (!link.available()) return false;
  static constexpr std::string_view args[] = {"CLUSTER", "SLOTS"};
  Command command;
  command.counted = false;
  command.for_map = true;
  command.start = Clock::now();
  command.deadline = command.start + options_.connect_timeout;
  const Id id = ++last_id_;
  if (link.send(id, Wire(args), 1, command.deadline) != ErrorKind::none) return false;
  command.done = [this, from = link.node()](Result&& result) { cluster_->on_map(from, result); };
  commands_.emplace(id, std::move(command));
  return true;
}

void Client::Impl::on_answer(Link& link, Id id, Result&& result) {
  const auto self = shared_from_this();
  const auto found = commands_.find(id);
  if (found == commands_.end()) return;  // cancelled
  if (cluster_ && !found->second.for_map && redirected(link, id, found->second, result)) return;
  finish(id, std::move(result));
}

// Follows MOVED and ASK. Other failures of a node, and a cluster that says it is down, are reasons to ask for the map.
bool Client::Impl::redirected(Link& link, Id id, Command& command, const Result& result) {
  if (result.error == ErrorKind::unavailable || result.error == ErrorKind::timeout ||
      result.reply.is_error("CLUSTERDOWN") || result.reply.is_error("READONLY")) {
    cluster_->refresh();
    return false;
  }
  const auto redirect = read_redirect(result.reply, link.node());
  if (!redirect) return false;
  if (!redirect->ask) cluster_->moved(*redirect);
  if (++command.redirects > most_redirects || command.deadline <= Clock::now()) return false;
  send_over(cluster_->open(redirect->node), id, command, redirect->ask);
  return true;
}

void Client::Impl::on_state(bool up, const std::string& text) {
  if (events_.state) events_.state(up, text);
}

void Client::Impl::fail_later(Id id, ErrorKind error, std::string text) {
  failed_.emplace_back(id, Result{error, std::move(text), {}});
  if (failed_.size() > 1) return;
  boost::asio::post(context_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->fail_now();
  });
}

// What fails from within these callbacks waits for the next turn.
void Client::Impl::fail_now() {
  for (auto& [id, result] : std::exchange(failed_, {})) finish(id, std::move(result));
}

void Client::Impl::finish(Id id, Result&& result) {
  const auto found = commands_.find(id);
  if (found == commands_.end()) return;
  const Command command = std::move(found->second);
  commands_.erase(found);
  if (!result.ok()) result.reply = {};
  if (command.counted) tell_done(command.operation, result, command.start);
  if (command.done) command.done(std::move(result));
}

void Client::Impl::tell_done(Operation operation, const Result& result, Time start) {
  if (!events_.done) return;
  const auto latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  events_.done(operation, result.error, result.nil(), latency);
}

Client::Id Client::Impl::del(std::span<const std::string> keys, Callback done) {
  const Id group_id = ++last_id_;
  Group& group = groups_[group_id];
  group.done = std::move(done);
  group.start = Clock::now();
  group.left = keys.size();
  group.result.reply.type = Reply::Type::integer;
  for (const std::string& key : keys) {
    const std::string_view args[] = {"DEL", key};
    Command command;
    command.counted = false;
    command.done = [this, group_id](Result&& result) { finish_part(group_id, std::move(result)); };
    command.start = group.start;
    command.deadline = group.start + options_.timeout;
    command.slot = static_cast<int>(key_slot(key));
    keep(std::move(command), args);
  }
  return group_id;
}

void Client::Impl::finish_part(Id group_id, Result&& result) {
  const auto found = groups_.find(group_id);
  if (found == groups_.end()) return;
  Group& group = found->second;
  if (group.result.ok() && !result.ok()) group.result = {result.error, std::move(result.text), {}};
  if (group.result.ok()) group.result.reply.integer += result.reply.integer;
  if (--group.left > 0) return;
  Group whole = std::move(group);
  groups_.erase(found);
  tell_done(Operation::del, whole.result, whole.start);
  if (whole.done) whole.done(std::move(whole.result));
}

void Client::Impl::cancel(Id id) {
  commands_.erase(id);
  groups_.erase(id);
}

Client::Client(boost::asio::io_context& context, Options options, Events events)
    : impl_(std::make_shared<Impl>(context, std::move(options), std::move(events))) {
  impl_->start();
}

Client::~Client() { impl_->close(); }

Client::Id Client::get(std::string_view key, Callback done) {
  const std::string_view args[] = {"GET", key};
  return impl_->issue(Operation::get, args, 1, std::move(done));
}

Client::Id Client::set(std::string_view key, std::string_view value, std::chrono::milliseconds ttl, Callback done) {
  const std::string milliseconds = std::to_string(std::max<std::chrono::milliseconds::rep>(ttl.count(), 1));
  const std::string_view args[] = {"SET", key, value, "PX", milliseconds};
  return impl_->issue(Operation::set, args, 1, std::move(done));
}

Client::Id Client::del(std::span<const std::string> keys, Callback done) {
  if (impl_->in_cluster() && keys.size() > 1) return impl_->del(keys, std::move(done));
  std::vector<std::string_view> args{"DEL"};
  args.insert(args.end(), keys.begin(), keys.end());
  return impl_->issue(Operation::del, args, 1, std::move(done));
}

Client::Id Client::publish(std::string_view channel, std::string_view message, Callback done) {
  const std::string_view args[] = {"PUBLISH", channel, message};
  return impl_->issue(Operation::publish, args, 0, std::move(done));
}

Client::Id Client::command(std::span<const std::string_view> args, Callback done, std::size_t key) {
  return impl_->issue(Operation::other, args, key, std::move(done));
}

void Client::cancel(Id id) { impl_->cancel(id); }

bool Client::available() const { return impl_->available(); }

}  // namespace brink::cache::redis
