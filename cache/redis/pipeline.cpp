#include "cache/redis/pipeline.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace brink::cache::redis {

bool Pipeline::push(Id id, Wire wire, unsigned replies, Time deadline) {
  if (commands_.size() >= max_in_flight_) return false;
  const std::size_t waiting = queued_bytes_ + writing_bytes_;
  if (wire.size() > max_queued_bytes_ || waiting > max_queued_bytes_ - wire.size()) return false;
  queued_bytes_ += wire.size();
  commands_.push_back({id, replies, deadline, {}, std::move(wire)});
  return true;
}

Pipeline::Batch Pipeline::take(Time now) {
  std::size_t end = sent_, size = 0;
  while (end < commands_.size() && (end == sent_ || size + commands_[end].wire.size() <= most_together)) {
    size += commands_[end].wire.size();
    ++end;
  }
  if (end == sent_) return {};
  std::shared_ptr<const void> keep;
  std::string_view bytes;
  if (end == sent_ + 1) {
    auto wire = std::make_shared<const Wire>(commands_[sent_].wire);
    bytes = wire->view();
    keep = std::move(wire);
  } else {
    auto joined = std::make_shared<std::string>();
    joined->reserve(size);
    for (std::size_t i = sent_; i < end; ++i) *joined += commands_[i].wire.view();
    bytes = *joined;
    keep = std::move(joined);
  }
  for (; sent_ < end; ++sent_) {
    commands_[sent_].sent = now;
    commands_[sent_].wire = {};
  }
  queued_bytes_ -= size;
  writing_bytes_ = size;
  return {bytes, std::move(keep)};
}

Pipeline::Match Pipeline::match(Id& id) {
  if (sent_ == 0) return Match::unexpected;
  Command& first = commands_.front();
  if (--first.replies > 0) return Match::skip;
  id = first.id;
  commands_.pop_front();
  --sent_;
  return id == 0 ? Match::skip : Match::answer;
}

std::vector<Pipeline::Id> Pipeline::expire(Time now) {
  std::vector<Id> late;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    Command& command = commands_[i];
    if (command.id == 0 || command.deadline > now) continue;
    late.push_back(command.id);
    command.id = 0;
    if (i >= sent_) queued_bytes_ -= command.wire.size();
  }
  const auto unsent = commands_.begin() + static_cast<std::ptrdiff_t>(sent_);
  commands_.erase(std::remove_if(unsent, commands_.end(), [](const Command& command) { return command.id == 0; }),
                  commands_.end());
  return late;
}

bool Pipeline::overdue(Time now, Clock::duration limit) const {
  return sent_ > 0 && commands_.front().sent + limit <= now;
}

Time Pipeline::next_wake(Clock::duration limit) const {
  Time wake = sent_ > 0 ? commands_.front().sent + limit : Time::max();
  for (const Command& command : commands_) {
    if (command.id != 0) wake = std::min(wake, command.deadline);
  }
  return wake;
}

std::vector<Pipeline::Id> Pipeline::clear(bool keep_unsent) {
  const std::size_t end = keep_unsent ? sent_ : commands_.size();
  std::vector<Id> waiting;
  for (std::size_t i = 0; i < end; ++i) {
    if (commands_[i].id != 0) waiting.push_back(commands_[i].id);
  }
  commands_.erase(commands_.begin(), commands_.begin() + static_cast<std::ptrdiff_t>(end));
  if (!keep_unsent) queued_bytes_ = 0;
  writing_bytes_ = 0;
  sent_ = 0;
  return waiting;
}

}  // namespace brink::cache::redis
