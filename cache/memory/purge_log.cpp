#include "cache/memory/purge_log.hpp"

#include <xxhash.h>

#include <algorithm>
#include <mutex>
#include <random>

namespace brink::cache {

void PurgeLog::Times::add(const Times& other) {
  hard = std::max(hard, other.hard);
  soft = std::max(soft, other.soft);
}

Verdict PurgeLog::Times::verdict(WallTime stored_at) const {
  if (hard >= stored_at) return Verdict::drop;
  return soft >= stored_at ? Verdict::stale : Verdict::keep;
}

PurgeLog::PurgeLog(PurgeLogOptions options) : options_(options) {
  std::random_device device;
  seed_ = (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::uint64_t PurgeLog::group(Purge::Kind kind, std::string_view text) const {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed_ + static_cast<std::uint64_t>(kind));
}

void PurgeLog::note(const Purge& what, bool soft, WallTime at, WallTime now) {
  at = std::min(at, now + options_.max_skew);
  Times times;
  (soft ? times.soft : times.hard) = at;
  const std::lock_guard lock(mutex_);
  if (what.kind == Purge::Kind::all) {
    mark_.add(times);
  } else {
    const auto [place, added] = records_.try_emplace(group(what.kind, what.text));
    Record& record = place->second;
    if (!added) by_time_.erase(record.place);
    record.times.add(times);
    record.place = by_time_.emplace(std::max(record.times.hard, record.times.soft), place->first);
  }
  while (!by_time_.empty() &&
         (by_time_.size() > options_.max_records || by_time_.begin()->first < now - options_.horizon)) {
    fold_oldest();
  }
}

void PurgeLog::fold_oldest() {
  const auto record = records_.find(by_time_.begin()->second);
  mark_.add(record->second.times);
  records_.erase(record);
  by_time_.erase(by_time_.begin());
}

PurgeLog::Times PurgeLog::times_of(Purge::Kind kind, std::string_view text) const {
  if (text.empty()) return {};
  const auto record = records_.find(group(kind, text));
  return record == records_.end() ? Times{} : record->second.times;
}

Verdict PurgeLog::verdict(const Entry& entry, WallTime stored_at) const {
  const std::shared_lock lock(mutex_);
  Times times = mark_;
  if (!records_.empty()) {
    times.add(times_of(Purge::Kind::url, entry.url));
    times.add(times_of(Purge::Kind::route, entry.route));
    times.add(times_of(Purge::Kind::model, entry.model));
    for (const std::string& tag : entry.tags) times.add(times_of(Purge::Kind::tag, tag));
  }
  return times.verdict(stored_at);
}

std::size_t PurgeLog::records() const {
  const std::shared_lock lock(mutex_);
  return records_.size();
}

}  // namespace brink::cache
