#include "proxy/cached/tiers.hpp"

#include <algorithm>

#include "cache/redis/client.hpp"
#include "cache/redis/codec.hpp"
#include "proxy/cached/fetch.hpp"
#include "proxy/cached/redis_options.hpp"
#include "proxy/cached/stored_head.hpp"
#include "proxy/observe/log.hpp"

namespace brink::cached {

using cache::EntryPtr;
using cache::WallTime;
namespace redis = cache::redis;

namespace {
// Purges are remembered for as long: what stays longer could come back after its purge.
constexpr cache::Duration longest_in_redis = std::chrono::hours(24);
}  // namespace

WallTime wall_now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

void Tiers::configure(const conf::CacheTiersConfig& config) {
  const std::size_t largest = config.memory / 16;  // so that there are several shards
  memory.resize({config.memory, largest});
  // Answers on their way are bounded apart from those that are there.
  flights.budget.set_limit(std::max<std::size_t>(config.memory / 4, std::size_t{64} * 1024 * 1024));
}

std::size_t Tiers::purge(const cache::Purge& what, bool soft, WallTime at, WallTime now) {
  purges.note(what, soft, at, now);
  return memory.purge(what, soft);
}

WorkerTiers::WorkerTiers(Tiers& all, net::Loop& its_loop, observe::Shard& its_shard)
    : shared(all), loop(its_loop), shard(its_shard) {}

WorkerTiers::~WorkerTiers() = default;

void WorkerTiers::configure(const conf::CacheTiersConfig& config) {
  if (config.redis == redis_config_) return;
  redis_config_ = config.redis;
  redis_.reset();
  // It answers nobody any more.
  while (!lookups_.empty()) lookups_.extract(lookups_.begin()).mapped().found(nullptr);
  if (!redis_config_) return;
  redis::Events events;
  events.state = [](bool up, const std::string& text) { up ? observe::log_info(text) : observe::log_warn(text); };
  events.done = [this](redis::Operation operation, redis::ErrorKind error, bool nil, std::chrono::microseconds) {
    using observe::Counter;
    if (error == redis::ErrorKind::timeout) shard.add(Counter::redis_timeouts);
    if (error != redis::ErrorKind::none) return shard.add(Counter::redis_errors);
    if (operation == redis::Operation::get) shard.add(nil ? Counter::redis_misses : Counter::redis_hits);
  };
  redis_ = std::make_unique<redis::Client>(loop.context, redis_options(*redis_config_), std::move(events));
}

EntryPtr WorkerTiers::find(const std::string& key) { return shared.memory.find(key, wall_now()); }

bool WorkerTiers::has_shared_tier() const {
  return redis_ != nullptr && shared.purges_known.load(std::memory_order_relaxed) && redis_->available();
}

std::uint64_t WorkerTiers::find_shared(const std::string& key, std::uint64_t max_object, Found found) {
  const std::string name = redis::redis_key(redis_config_->prefix, key);
  const std::uint64_t id = ++last_lookup_;
  Lookup& lookup = lookups_[id];
  lookup.found = std::move(found);
  lookup.command = redis_->get(name, [this, id, key, max_object](redis::Result&& result) {
    const auto answered = lookups_.extract(id);
    if (!answered.empty()) take_shared(key, max_object, result, answered.mapped().found);
  });
  return id;
}

void WorkerTiers::take_shared(const std::string& key, std::uint64_t max_object, const redis::Result& result,
                              const Found& found) {
  constexpr std::size_t head_room = std::size_t{1} << 20;
  if (!result.ok() || result.nil() || result.reply.type != redis::Reply::Type::string) return found(nullptr);
  redis::Decoded decoded = redis::decode(result.reply.text, max_object * 2 + head_room);
  if (decoded.error != redis::DecodeError::none || decoded.entry->key != key) {
    shard.add(observe::Counter::redis_unreadable);
    return found(nullptr);
  }
  const boost::intrusive_ptr<cache::Entry> entry = boost::const_pointer_cast<cache::Entry>(decoded.entry);
  const cache::Verdict verdict = shared.purges.verdict(*entry, decoded.stored_at);
  const bool sendable = entry->kind == cache::Entry::Kind::variants || attach_head(*entry);
  if (verdict == cache::Verdict::drop || !sendable || entry->useful_until < wall_now()) return found(nullptr);
  if (verdict == cache::Verdict::stale) entry->soft_purged = true;
  // What another request has stored meanwhile is newer.
  const EntryPtr newer = shared.memory.find(key, wall_now());
  if (newer && newer->freshness.response_time > entry->freshness.response_time) return found(newer);
  shared.memory.insert(entry);
  // A purge that came in between has looked for it in vain.
  if (shared.purges.verdict(*entry, decoded.stored_at) != verdict) {
    shared.memory.erase(key);
    return found(nullptr);
  }
  found(entry);
}

void WorkerTiers::cancel(std::uint64_t id) {
  const auto lookup = lookups_.extract(id);
  if (!lookup.empty() && redis_) redis_->cancel(lookup.mapped().command);
}

void WorkerTiers::store(EntryPtr entry, WallTime asked_at) {
  const cache::Verdict verdict = shared.purges.verdict(*entry, asked_at);
  if (verdict == cache::Verdict::drop) return;
  if (verdict == cache::Verdict::stale) entry->soft_purged = true;
  shared.memory.insert(entry);
  // A purge that came in between has looked for it in vain.
  if (shared.purges.verdict(*entry, asked_at) != verdict) shared.memory.erase(entry->key);
  if (redis_ == nullptr || verdict != cache::Verdict::keep) return;
  const WallTime now = wall_now();
  const auto ttl = entry->kind == cache::Entry::Kind::variants ? entry->useful_until - now : entry->freshness.ttl(now);
  if (ttl < std::chrono::seconds(1)) return;
  redis_->set(redis::redis_key(redis_config_->prefix, entry->key), redis::encode(*entry, asked_at),
              std::min(ttl, longest_in_redis), {});
}

void WorkerTiers::erase(const std::string& key) {
  shared.memory.erase(key);
  if (redis_) redis_->del(std::vector<std::string>{redis::redis_key(redis_config_->prefix, key)}, {});
}

void WorkerTiers::invalidate(const std::string& url) {
  const WallTime now = wall_now();
  const cache::PurgeNotice notice{{cache::Purge::Kind::url, url}, false, now};
  shared.purge(notice.what, notice.soft, notice.at, now);
  if (shared.announce) shared.announce(notice);
}

void WorkerTiers::close() {
  while (!fetches.empty()) fetches.front()->cancel();
  redis_.reset();
}

}  // namespace brink::cached
