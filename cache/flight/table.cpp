#include "cache/flight/table.hpp"

namespace brink::cache {

FlightTable::Joined FlightTable::join(const std::string& key, WakerPtr waker, std::size_t max_followers,
                                      Clock::time_point now, const std::function<bool()>& arrived) {
  Shard& shard = this->shard(key);
  const std::lock_guard lock(shard.mutex);
  if (const auto alone = shard.alone.find(hash_of(key)); alone != shard.alone.end() && alone->second > now) return {};
  const auto found = shard.flights.find(key);
  if (found != shard.flights.end()) {
    if (found->second->followers() > max_followers) return {};
    return {Role::follow, found->second, found->second->follow(std::move(waker), false)};
  }
  if (arrived && arrived()) return {Role::look, nullptr, {}};
  FlightPtr flight(new Flight(key));
  shard.flights.emplace(key, flight);
  const Flight::Ticket ticket = flight->follow(std::move(waker), true);
  return {Role::lead, std::move(flight), ticket};
}

FlightTable::Joined FlightTable::take_over(Flight& failed, WakerPtr waker, unsigned max_calls,
                                           const std::function<bool()>& arrived) {
  Shard& shard = this->shard(failed.key());
  const std::lock_guard lock(shard.mutex);
  if (failed.successor_ == nullptr) {
    if (failed.calls() >= max_calls) return {Role::none, nullptr, {}};
    if (arrived && arrived()) return {Role::look, nullptr, {}};
    const auto [found, fresh] = shard.flights.emplace(failed.key(), nullptr);
    if (fresh) found->second = FlightPtr(new Flight(failed.key(), failed.calls() + 1));
    failed.successor_ = found->second;  // or somebody who came later calls already
    if (fresh) return {Role::lead, failed.successor_, failed.successor_->follow(std::move(waker), true)};
  }
  return {Role::follow, failed.successor_, failed.successor_->follow(std::move(waker), false)};
}

FlightPtr FlightTable::lead(const std::string& key) {
  Shard& shard = this->shard(key);
  const std::lock_guard lock(shard.mutex);
  const auto [found, fresh] = shard.flights.emplace(key, nullptr);
  if (!fresh) return nullptr;
  found->second = FlightPtr(new Flight(key));
  return found->second;
}

void FlightTable::remove(const Flight& flight) {
  Shard& shard = this->shard(flight.key());
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.flights.find(flight.key());
  if (found != shard.flights.end() && found->second.get() == &flight) shard.flights.erase(found);
}

void FlightTable::remember_alone(const std::string& key, Clock::time_point until) {
  Shard& shard = this->shard(key);
  const std::lock_guard lock(shard.mutex);
  const auto [found, fresh] = shard.alone.insert_or_assign(hash_of(key), until);
  if (!fresh) return;
  shard.alone_order.push_back(found->first);
  if (shard.alone_order.size() <= max_alone) return;
  shard.alone.erase(shard.alone_order.front());
  shard.alone_order.pop_front();
}

std::size_t FlightTable::size() const {
  std::size_t count = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    count += shard.flights.size();
  }
  return count;
}

}  // namespace brink::cache
