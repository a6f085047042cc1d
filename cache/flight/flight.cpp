#include "cache/flight/flight.hpp"

#include <algorithm>

namespace brink::cache {

void Flight::set_publisher(WakerPtr publisher) {
  const std::lock_guard lock(mutex_);
  publisher_ = std::move(publisher);
}

void Flight::open(EntryPtr head, EntryPtr others) {
  const std::lock_guard lock(mutex_);
  head_ = std::move(head);
  others_ = std::move(others);
  shared_ = others_ != nullptr;
  if (!shared_) keeping_ = false;
  phase_ = Phase::streaming;
  wake_all();
}

bool Flight::append(Piece piece) {
  const std::lock_guard lock(mutex_);
  held_ += piece->text.size();
  pieces_.push_back(std::move(piece));
  wake_all();
  if (followers_.empty() && !keeping_) drop_taken();  // or it would wait for nobody
  paused_ = is_congested();
  return !paused_;
}

void Flight::stop_keeping() {
  const std::lock_guard lock(mutex_);
  keeping_ = false;
  drop_taken();
}

void Flight::complete(EntryPtr entry, std::string trailers) {
  const std::lock_guard lock(mutex_);
  entry_ = std::move(entry);
  trailers_ = std::move(trailers);
  phase_ = Phase::complete;
  wake_all();
}

void Flight::fail(Failure failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  phase_ = Phase::failed;
  wake_all();
}

bool Flight::congested() const {
  const std::lock_guard lock(mutex_);
  return is_congested();
}

bool Flight::deserted() const {
  const std::lock_guard lock(mutex_);
  return followers_.empty();
}

Flight::Ticket Flight::follow(WakerPtr waker, bool leader) {
  const std::lock_guard lock(mutex_);
  followers_.push_back({std::move(waker), first_, leader});
  return std::prev(followers_.end());
}

Flight::News Flight::look(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  News news;
  news.phase = phase_;
  news.shared = shared_ || ticket->leader;
  news.kept = keeping_;
  news.head = ticket->leader ? head_ : others_;
  news.entry = entry_;
  if (phase_ == Phase::complete) news.trailers = trailers_;
  if (phase_ == Phase::failed) news.failure = failure_;
  if (!news.shared) return news;
  news.pieces.assign(pieces_.begin() + static_cast<std::ptrdiff_t>(ticket->next - first_), pieces_.end());
  ticket->next = first_ + pieces_.size();
  if (!keeping_) drop_taken();
  return news;
}

void Flight::leave(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  followers_.erase(ticket);
  if (!keeping_) drop_taken();
  if (followers_.empty() && publisher_) publisher_->wake();
}

std::size_t Flight::followers() const {
  const std::lock_guard lock(mutex_);
  return followers_.size();
}

void Flight::wake_all() {
  for (const Follower& follower : followers_) follower.waker->wake();
}

void Flight::drop_taken() {
  std::size_t taken = first_ + pieces_.size();
  for (const Follower& follower : followers_) {
    if (shared_ || follower.leader) taken = std::min(taken, follower.next);
  }
  while (first_ < taken) {
    held_ -= pieces_.front()->text.size();
    pieces_.pop_front();
    ++first_;
  }
  if (paused_ && !is_congested()) {
    paused_ = false;
    if (publisher_) publisher_->wake();
  }
}

bool Flight::is_congested() const { return !keeping_ && held_ > backlog; }

}  // namespace brink::cache
