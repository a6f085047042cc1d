#include "proxy/net/resolver.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "proxy/net/dns_channel.hpp"

namespace brink::net {

using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

// All names with their watchers belong to the thread; others only leave messages for it.
class Resolver::Engine {
 public:
  explicit Engine(const Options& options);
  ~Engine() { ::close(wake_fd_); }

  std::uint64_t add(std::string name, std::uint16_t port, Callback callback);
  void remove(std::uint64_t id);
  void refresh(std::string_view name);
  void stop();

 private:
  struct Watcher {
    std::string name;
    std::uint16_t port = 0;
    std::shared_ptr<const Callback> callback;
  };
  struct Name {
    std::vector<boost::asio::ip::address> addresses;  // the last good ones
    std::string error;
    bool known = false;  // there was an outcome
    bool asking = false;
    bool numeric = false;
    SteadyTime asked{};  // when it was asked last
    SteadyTime next{};   // when to ask
    Duration retry{0};   // the wait after the latest failure
    std::set<std::uint64_t> watchers;
  };
  static constexpr std::size_t max_pending = 64;  // queries at once
  static constexpr Duration longest_wait{60'000};

  void post(std::function<void()> command);
  void wake();
  void run();
  void take_messages();
  Duration ask_due();
  void ask(const std::string& key, Name& name);
  void take_answer(const std::string& key, const DnsAnswer& answer);
  void start_watch(std::uint64_t id, Watcher watcher);
  bool end_watch(std::uint64_t id);
  void hasten(const std::string& key);
  void tell(std::uint64_t id);

  const Options options_;
  const int wake_fd_;

  std::mutex mutex_;  // guards what follows up to the thread's own
  std::vector<std::function<void()>> commands_;
  std::set<std::string, std::less<>> refreshes_;
  std::uint64_t next_id_ = 1;
  bool stopping_ = false;
  bool ended_ = false;  // the thread takes no more messages

  // The thread's own.
  std::unique_ptr<DnsChannel> channel_;
  std::map<std::string, Name> names_;
  std::map<std::uint64_t, Watcher> watchers_;  // each one's name is in names_
  std::set<std::uint64_t> ended_early_;        // by a callback, while their start is still a message
  std::thread thread_;
  std::thread::id thread_id_;
};

Resolver::Engine::Engine(const Options& options)
    : options_(options),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      channel_(std::make_unique<DnsChannel>(options.servers)) {
  if (wake_fd_ < 0) throw std::system_error(errno, std::system_category(), "DNS: eventfd");
  sigset_t all, before;  // signals are the control thread's
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  thread_id_ = thread_.get_id();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Resolver::Engine::wake() {
  const std::uint64_t one = 1;
  // It fails only when the counter is full, and then the thread is awake.
  [[maybe_unused]] const ssize_t size = ::write(wake_fd_, &one, sizeof one);
}

void Resolver::Engine::post(std::function<void()> command) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  commands_.push_back(std::move(command));
  wake();
}

std::uint64_t Resolver::Engine::add(std::string name, std::uint16_t port, Callback callback) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
  }
  Watcher watcher{std::move(name), port, std::make_shared<const Callback>(std::move(callback))};
  post([this, id, watcher = std::move(watcher)]() mutable { start_watch(id, std::move(watcher)); });
  return id;
}

void Resolver::Engine::remove(std::uint64_t id) {
  if (std::this_thread::get_id() == thread_id_) {  // from a callback
    if (!end_watch(id)) ended_early_.insert(id);
    return;
  }
  std::promise<void> gone;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    commands_.push_back([&] {
      end_watch(id);
      gone.set_value();
    });
    wake();
  }
  gone.get_future().wait();
}

void Resolver::Engine::refresh(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!ended_ && refreshes_.emplace(name).second) wake();
}

void Resolver::Engine::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    wake();
  }
  thread_.join();
}

void Resolver::Engine::run() {
  for (;;) {
    take_messages();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    const Duration wait = ask_due();
    channel_->process(wake_fd_, wait);
  }
  channel_.reset();
  std::vector<std::function<void()>> rest;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    rest.swap(commands_);
  }
  for (const auto& command : rest) command();
}

void Resolver::Engine::take_messages() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(wake_fd_, &count, sizeof count);  // fails when there was no wake
  std::vector<std::function<void()>> commands;
  std::set<std::string, std::less<>> refreshes;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
    refreshes.swap(refreshes_);
  }
  for (const auto& command : commands) command();
  for (const auto& name : refreshes) hasten(name);
}

// Asks for the names whose time has come; returns how long until the next one's.
Resolver::Duration Resolver::Engine::ask_due() {
  if (channel_->pending() == 0 && channel_->outdated()) channel_ = std::make_unique<DnsChannel>(options_.servers);
  const SteadyTime now = SteadyClock::now();
  SteadyTime next = now + longest_wait;
  std::vector<std::string> due;  // an answer may come within ask() and change the map
  for (const auto& [key, name] : names_) {
    if (name.asking || name.numeric) continue;
    if (name.next <= now && channel_->pending() + due.size() < max_pending) {
      due.push_back(key);
    } else if (name.next > now) {
      next = std::min(next, name.next);
    }
  }
  for (const auto& key : due) {
    if (const auto found = names_.find(key); found != names_.end()) ask(key, found->second);
  }
  // An answer that came at once has set a time of its own.
  if (!due.empty()) return Duration{0};
  return std::chrono::ceil<Duration>(next - now);
}

void Resolver::Engine::ask(const std::string& key, Name& name) {
  name.asking = true;
  name.asked = SteadyClock::now();
  channel_->ask(key, [this, key](const DnsAnswer& answer) { take_answer(key, answer); });
}

void Resolver::Engine::take_answer(const std::string& key, const DnsAnswer& answer) {
  const auto found = names_.find(key);
  if (found == names_.end()) return;
  Name& name = found->second;
  name.asking = false;
  if (name.watchers.empty()) {
    names_.erase(found);
    return;
  }
  bool changed = !name.known || name.error != answer.error;
  name.known = true;
  name.error = answer.error;
  if (answer.error.empty()) {
    auto addresses = answer.addresses;
    if (addresses.size() > max_addresses) addresses.resize(max_addresses);
    changed |= !std::is_permutation(addresses.begin(), addresses.end(), name.addresses.begin(), name.addresses.end());
    name.addresses = std::move(addresses);
    name.retry = Duration{0};
    name.next = name.asked + (answer.from_hosts ? options_.hosts_interval
                                                : std::clamp<Duration>(answer.ttl, options_.min_ttl, options_.max_ttl));
  } else {
    name.retry = std::clamp(name.retry * 2, options_.retry_min, options_.retry_max);
    name.next = SteadyClock::now() + name.retry;
  }
  if (!changed) return;
  const std::set<std::uint64_t> watchers = name.watchers;  // a callback may end any of them
  for (const std::uint64_t id : watchers) tell(id);
}

void Resolver::Engine::start_watch(std::uint64_t id, Watcher watcher) {
  if (ended_early_.erase(id) > 0) return;
  Name& name = names_[watcher.name];
  name.watchers.insert(id);
  boost::system::error_code not_numeric;
  const auto address = boost::asio::ip::make_address(watcher.name, not_numeric);
  watchers_.emplace(id, std::move(watcher));
  if (!not_numeric) {
    name.numeric = name.known = true;
    name.addresses = {address};
  }
  if (name.known) tell(id);
}

// False: it has not begun.
bool Resolver::Engine::end_watch(std::uint64_t id) {
  const auto watcher = watchers_.find(id);
  if (watcher == watchers_.end()) return false;
  const auto name = names_.find(watcher->second.name);
  watchers_.erase(watcher);
  name->second.watchers.erase(id);
  if (name->second.watchers.empty() && !name->second.asking) names_.erase(name);
  return true;
}

void Resolver::Engine::hasten(const std::string& key) {
  const auto found = names_.find(key);
  if (found == names_.end() || found->second.asking) return;
  Name& name = found->second;
  name.next = std::min(name.next, std::max(SteadyClock::now(), name.asked + options_.refresh_interval));
}

void Resolver::Engine::tell(std::uint64_t id) {
  const auto watcher = watchers_.find(id);
  if (watcher == watchers_.end()) return;
  const Name& name = names_.at(watcher->second.name);
  Update update;
  update.error = name.error;
  for (const auto& address : name.addresses) update.addresses.emplace_back(address, watcher->second.port);
  const auto callback = watcher->second.callback;  // it may end its own watch
  (*callback)(update);
}

void Resolver::Watch::end() {
  if (engine_ != nullptr) engine_->remove(id_);
  engine_ = nullptr;
}

Resolver::Resolver() : Resolver(Options{}) {}
Resolver::Resolver(const Options& options) : engine_(std::make_shared<Engine>(options)) {}
Resolver::~Resolver() { stop(); }
void Resolver::stop() { engine_->stop(); }
void Resolver::refresh(std::string_view name) { engine_->refresh(name); }

Resolver::Watch Resolver::watch(std::string name, std::uint16_t port, Callback callback) {
  const std::uint64_t id = engine_->add(std::move(name), port, std::move(callback));
  return {engine_, id};
}

}  // namespace brink::net
