#include "proxy/cached/purge_channel.hpp"

#include <algorithm>

#include "cache/redis/client.hpp"
#include "cache/redis/subscriber.hpp"
#include "proxy/cached/redis_options.hpp"
#include "proxy/net/random.hpp"
#include "proxy/observe/log.hpp"

namespace brink::cached {

namespace redis = cache::redis;
using cache::PurgeNotice;
using cache::WallTime;

namespace {

constexpr std::size_t max_waiting = 10'000;
constexpr std::size_t max_own = 1'000;
constexpr auto kept_in_list = std::chrono::hours(25);  // longer than the purge log's horizon
constexpr auto overlap = std::chrono::seconds(70);     // clocks of nodes differ; more than the log believes of them
constexpr auto blind_after = std::chrono::seconds(10);

std::string millis(WallTime time) { return std::to_string(time.time_since_epoch().count()); }

redis::Options channel_options(const conf::RedisConfig& config) {
  redis::Options options = redis_options(config);
  options.timeout = std::max<std::chrono::milliseconds>(options.timeout, std::chrono::seconds(1));  // nobody waits
  return options;
}

}  // namespace

PurgeChannel::PurgeChannel(boost::asio::io_context& context, Tiers& tiers, const conf::RedisConfig& config)
    : tiers_(tiers),
      channel_(config.prefix + "purge"),
      list_(config.prefix + "purges"),
      epoch_key_(config.prefix + "epoch"),
      retry_(context),
      blind_(context),
      client_(std::make_unique<redis::Client>(context, channel_options(config))),
      subscriber_(std::make_unique<redis::Subscriber>(
          context, channel_options(config), channel_,
          redis::Subscriber::Handlers{
              [this](std::string&& message) { take(message); }, [this](const std::string& why) { on_lost(why); },
              [this] { on_restored(); },
              [](const std::string& text) { observe::log_warn("redis, purges of other nodes: " + text); }})) {
  tiers_.purges_known = false;
}

PurgeChannel::~PurgeChannel() { tiers_.purges_known = false; }

bool PurgeChannel::connected() const { return subscriber_->connected(); }

// The list's identity first: whether it is the one that this node knows.
void PurgeChannel::on_restored() {
  heard_ = true;
  blind_.cancel();
  client_->get(epoch_key_, [this](redis::Result&& result) { on_epoch(std::move(result), false); });
}

void PurgeChannel::on_epoch(redis::Result&& result, bool was_set) {
  if (!heard_) return;
  if (result.nil() && !was_set) {
    net::Random random;
    std::string fresh;
    random.append_hex(fresh, 2);
    const std::string_view args[] = {"SET", epoch_key_, fresh, "NX"};
    client_->command(args, [this](redis::Result&&) {
      client_->get(epoch_key_, [this](redis::Result&& again) { on_epoch(std::move(again), true); });
    });
    return;
  }
  if (!result.ok() || result.nil()) {
    return later(&PurgeChannel::on_restored);
  }
  if (!epoch_.empty() && epoch_ != result.reply.text) {
    const std::size_t dropped = tiers_.memory.purge({}, false);
    observe::log_warn("redis has lost the list of purges: dropped all " + std::to_string(dropped) +
                      " entries of the memory cache");
  }
  epoch_ = result.reply.text;
  const std::string from = millis(heard_until_ == WallTime{} ? heard_until_ : heard_until_ - overlap);
  const std::string_view args[] = {"ZRANGEBYSCORE", list_, from, "+inf"};
  client_->command(args, [this](redis::Result&& list) { on_list(std::move(list)); });
}

void PurgeChannel::on_list(redis::Result&& result) {
  if (!heard_) return;
  if (!result.ok()) return later(&PurgeChannel::on_restored);
  for (const redis::Reply& purge : result.reply.elements) take(purge.text);
  tiers_.purges_known = true;
  observe::log_info("redis: purges of other nodes are heard");
  sending_ = false;
  send_next();
}

void PurgeChannel::later(void (PurgeChannel::*what)()) {
  retry_.expires_after(std::chrono::seconds(1));
  retry_.async_wait([this, what](boost::system::error_code error) {
    if (!error && heard_) (this->*what)();
  });
}

void PurgeChannel::on_lost(const std::string& why) {
  heard_ = false;
  tiers_.purges_known = false;
  heard_until_ = wall_now();
  observe::log_warn("redis, purges of other nodes are not heard: " + why);
  blind_.expires_after(blind_after);
  blind_.async_wait([this](boost::system::error_code error) {
    if (error || heard_) return;
    const std::size_t marked = tiers_.memory.purge({}, true);
    observe::log_warn("redis, purges of other nodes may have been missed: " + std::to_string(marked) +
                      " entries of the memory cache count as stale");
  });
}

void PurgeChannel::take(std::string_view text) {
  const auto own = std::find(own_.begin(), own_.end(), text);
  if (own != own_.end()) return;
  const auto notice = cache::from_text(text);
  if (!notice) {
    static observe::LogLimit limit;
    return observe::log_error(limit, "redis, a purge that cannot be read: " + std::string(describe(notice.error())));
  }
  tiers_.purge(notice->what, notice->soft, notice->at, wall_now());
}

void PurgeChannel::announce(const PurgeNotice& notice) {
  if (waiting_.size() >= max_waiting) {
    waiting_.clear();
    sending_ = false;
    waiting_.push_back(to_text(PurgeNotice{{}, notice.soft, notice.at}));
  } else {
    waiting_.push_back(to_text(notice));
  }
  own_.push_back(waiting_.back());
  if (own_.size() > max_own) own_.pop_front();
  send_next();
}

// One after the other: the list first, so that who misses the message finds it there.
void PurgeChannel::send_next() {
  if (sending_ || waiting_.empty() || !heard_) return;
  sending_ = true;
  const std::string text = waiting_.front();
  const auto notice = cache::from_text(text);
  const std::string at = millis(notice->at);
  const std::string old = "(" + millis(wall_now() - kept_in_list);
  const std::string_view add[] = {"ZADD", list_, at, text};
  const std::string_view trim[] = {"ZREMRANGEBYSCORE", list_, "-inf", old};
  client_->command(trim, {});
  client_->command(add, [this, text](redis::Result&& added) {
    if (!added.ok()) {
      sending_ = false;
      return later(&PurgeChannel::send_next);
    }
    client_->publish(channel_, text, [this, text](redis::Result&& told) {
      sending_ = false;
      if (!told.ok()) return later(&PurgeChannel::send_next);
      if (!waiting_.empty() && waiting_.front() == text) waiting_.pop_front();
      send_next();
    });
  });
}

}  // namespace brink::cached
