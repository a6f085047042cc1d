// Which backend calls are on their way, by key, so that identical requests find each other. One for all workers.
// Thread-safe, every member.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cache/flight/flight.hpp"

namespace brink::cache {

class FlightTable {
 public:
  enum class Role : std::uint8_t {
    lead,    // make the call; the flight is in the table
    follow,  // somebody makes it
    alone,   // the answer cannot be shared, or too many wait: call without a flight
    look,    // an answer has arrived since: look into the cache again
    none,    // of take_over: there were calls enough
  };
  struct Joined {
    Role role = Role::alone;
    FlightPtr flight;  // with lead and follow
    Flight::Ticket ticket{};
  };
  using Clock = std::chrono::steady_clock;

  // `bytes`: what all flights together may keep for storing.
  explicit FlightTable(std::size_t bytes) : budget(bytes) {}

  // `arrived` is asked before a new call: whether the cache has what it had not when this request looked. Who stores
  // an answer does so before remove(), so between the two a request finds either the answer or the flight.
  Joined join(const std::string& key, WakerPtr waker, std::size_t max_followers, Clock::time_point now,
              const std::function<bool()>& arrived = {});
  // The call in the place of one that failed, for one of those who followed it: the first of them makes it, the others
  // follow, also when it has failed meanwhile. So they make `max_calls` together, however late one hears of it.
  Joined take_over(Flight& failed, WakerPtr waker, unsigned max_calls, const std::function<bool()>& arrived = {});
  // A call without followers, such as a refresh in the background; nullptr if one is on its way.
  FlightPtr lead(const std::string& key);
  // Nobody finds it any more; those who follow go on. Once for each flight.
  void remove(const Flight& flight);
  // The answers to this key cannot be shared: until then, requests go on their own at once.
  void remember_alone(const std::string& key, Clock::time_point until);

  std::size_t size() const;  // flights on their way

  Budget budget;  // for what flights keep; an answer that finds no room is not stored

 private:
  static constexpr std::size_t shards = 16;
  static constexpr std::size_t max_alone = 4096;  // keys remembered a shard; the oldest go first
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, FlightPtr> flights;
    // By the hash of the key: keys are long, and a mistake costs a call.
    std::unordered_map<std::size_t, Clock::time_point> alone;
    std::deque<std::size_t> alone_order;
  };
  static std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }
  Shard& shard(std::string_view key) { return shards_[hash_of(key) % shards]; }

  std::array<Shard, shards> shards_;
};

}  // namespace brink::cache
