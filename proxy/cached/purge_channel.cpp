#include "proxy/cached/purge_channel.hpp"

#include <algorithm>
#include <charconv>

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
constexpr std::size_t max_listed = 50'000;
constexpr std::size_t page = 500;  // purges read at once; together less than a reply may have
constexpr auto read_back = std::chrono::minutes(24 * 60 + 5);  // longer than an entry lives in Redis
constexpr auto kept_in_list = std::chrono::hours(25);          // more, so that nothing is trimmed while it is read
constexpr auto overlap = std::chrono::seconds(70);  // clocks of nodes differ; more than the log believes of them
constexpr auto blind_after = std::chrono::seconds(10);

// The list's member that says when the list was begun: its score is that time and this offset, above all purges.
constexpr std::string_view begun_member = "begun";
constexpr std::int64_t begun_offset = 1'000'000'000'000'000;

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
      read_again_(context),
      send_again_(context),
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

PurgeChannel::~PurgeChannel() {
  tiers_.purges_known = false;
  if (waiting_.empty()) return;
  observe::log_warn("redis: other nodes have not heard of the last " + std::to_string(waiting_.size()) + " purges");
}

bool PurgeChannel::connected() const { return subscriber_->connected(); }

void PurgeChannel::on_restored() {
  heard_ = true;
  blind_.cancel();
  begin_list();
  read_list(0);
}

// Whoever finds no list begins one. What was stored before may have been purged by a list that is lost.
void PurgeChannel::begin_list() {
  const std::string score = std::to_string(begun_offset + wall_now().time_since_epoch().count());
  const std::string_view args[] = {"ZADD", list_, "NX", score, begun_member};
  client_->command(args, {});
}

void PurgeChannel::read_list(std::size_t offset) {
  const WallTime oldest = wall_now() - read_back;
  if (offset == 0) read_from_ = std::max(oldest, heard_until_ - overlap);
  const std::string from = millis(read_from_);
  const std::string skip = std::to_string(offset);
  const std::string count = std::to_string(page);
  const std::string_view args[] = {"ZRANGEBYSCORE", list_, from, "+inf", "WITHSCORES", "LIMIT", skip, count};
  client_->command(args, [this, offset](redis::Result&& list) { on_list(std::move(list), offset); });
}

void PurgeChannel::on_list(redis::Result&& result, std::size_t offset) {
  if (!heard_) return;
  const std::vector<redis::Reply>& items = result.reply.elements;  // each and its score
  if (!result.ok() || items.size() % 2 != 0) return read_later("cannot be read: " + result.text);
  bool complete = false;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    if (items[i].text == begun_member) {
      complete = on_begun(items[i + 1].text);
    } else {
      take(items[i].text);
    }
  }
  if (items.size() == 2 * page && !complete) return read_list(offset + page);
  if (!complete) return read_later("is not there and cannot be begun");
  tiers_.purges_known = true;
  observe::log_info("redis: purges of other nodes are heard");
  send_next();
}

bool PurgeChannel::on_begun(const std::string& score) {
  double number = 0;
  const auto parsed = std::from_chars(score.data(), score.data() + score.size(), number);
  if (parsed.ec != std::errc() || number < static_cast<double>(begun_offset)) return false;
  const auto begun = static_cast<std::int64_t>(number) - begun_offset;
  if (begun == list_begun_) return true;
  if (list_begun_ != 0) {
    const std::size_t dropped = tiers_.memory.purge({}, false);
    observe::log_warn("redis has lost the list of purges: dropped all " + std::to_string(dropped) +
                      " entries of the memory cache");
  }
  list_begun_ = begun;
  tiers_.purges.note({}, false, WallTime(std::chrono::milliseconds(begun)), wall_now());
  return true;
}

void PurgeChannel::read_later(const std::string& why) {
  static observe::LogLimit limit;
  observe::log_error(limit, "redis, the list of purges " + why);
  read_again_.expires_after(std::chrono::seconds(1));
  read_again_.async_wait([this](boost::system::error_code error) {
    if (!error && heard_) on_restored();
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
    waiting_.push_back({to_text(PurgeNotice{{}, notice.soft, notice.at}), false});
  } else {
    waiting_.push_back({to_text(notice), false});
  }
  own_.push_back(waiting_.back().text);
  if (own_.size() > max_own) own_.pop_front();
  send_next();
}

// One after the other: the list first, so that who misses the message finds it there. A Redis that is full takes
// messages only; then the list is tried again.
void PurgeChannel::send_next() {
  if (sending_ || waiting_.empty() || !heard_) return;
  sending_ = true;
  const Waiting one = std::move(waiting_.front());
  waiting_.pop_front();
  const auto notice = cache::from_text(one.text);
  const std::string at = millis(notice->at);
  const std::string old = "(" + millis(wall_now() - kept_in_list);
  const std::string_view trim[] = {"ZREMRANGEBYSCORE", list_, "-inf", old};
  const std::string_view count[] = {"ZCARD", list_};
  const std::string_view add[] = {"ZADD", list_, at, one.text};
  client_->command(trim, {});
  client_->command(count, [this](redis::Result&& size) { on_size(size); });
  client_->command(add, [this, one](redis::Result&& added) {
    if (one.told) return on_sent(one, added.ok());
    client_->publish(channel_, one.text, [this, one, listed = added.ok()](redis::Result&& told) {
      on_sent({one.text, told.ok()}, listed);
    });
  });
}

void PurgeChannel::on_sent(Waiting one, bool listed) {
  sending_ = false;
  const bool done = listed && one.told;
  const bool go_on = done || (one.told && !waiting_.empty() && !waiting_.front().told);
  if (!done) waiting_.push_back(std::move(one));
  if (go_on) return send_next();
  send_again_.expires_after(std::chrono::seconds(1));
  send_again_.async_wait([this](boost::system::error_code error) {
    if (!error) send_next();
  });
}

// A list that has grown too long is begun anew: who has to read it drops what it has instead.
void PurgeChannel::on_size(const redis::Result& size) {
  if (!size.ok() || size.reply.integer <= static_cast<std::int64_t>(max_listed)) return;
  observe::log_warn("redis: the list of purges has grown too long and is begun anew");
  client_->del(std::vector<std::string>{list_}, {});
  begin_list();
}

}  // namespace brink::cached
