// Which backend calls are on their way, by key, so that identical requests find each other. One for all workers.
// Thread-safe, every member.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
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
  };
  struct Joined {
    Role role = Role::alone;
    FlightPtr flight;  // with lead and follow
    Flight::Ticket ticket{};
  };
  using Clock = std::chrono::steady_clock;

  // `bytes`: what all flights together may keep for storing.
  explicit FlightTable(std::size_t bytes) : budget_(bytes) {}

  Joined join(const std::string& key, WakerPtr waker, std::size_t max_followers, Clock::time_point now);
  // A call without followers, such as a refresh in the background; nullptr if one is on its way.
  FlightPtr lead(const std::string& key);
  // Nobody finds it any more; those who follow go on. Once for each flight.
  void remove(const Flight& flight);
  // The answers to this key cannot be shared: until then, requests go on their own at once.
  void remember_alone(const std::string& key, Clock::time_point until);

  // Memory for what flights keep: false when the budget is used up; then the answer is not stored.
  bool reserve(std::size_t bytes);
  void release(std::size_t bytes) { kept_.fetch_sub(bytes); }
  void set_budget(std::size_t bytes) { budget_ = bytes; }

  std::size_t size() const;        // flights on their way
  std::size_t kept() const { return kept_; }

 private:
  static constexpr std::size_t shards = 16;
  static constexpr std::size_t max_alone = 4096;  // keys remembered a shard; the oldest go first
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, FlightPtr> flights;
    std::unordered_map<std::string, Clock::time_point> alone;
    std::deque<std::string> alone_order;
  };
  Shard& shard(std::string_view key) { return shards_[std::hash<std::string_view>()(key) % shards]; }

  std::array<Shard, shards> shards_;
  std::atomic<std::size_t> budget_;
  std::atomic<std::size_t> kept_{0};
};

}  // namespace brink::cache
