// Stop 8 and 11: a request whose route has a cache. Looks the answer up, or follows a backend call for it that is under
// way, or makes one that others may follow; goes on alone where the answer cannot be shared. What may be stored and
// used is for the two kinds of it: http_run (RFC 9111) and exact_run (JSON requests to models). Its worker's thread.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "proxy/cached/fetch.hpp"
#include "proxy/cached/stored_head.hpp"

namespace brink::cached {

class CachedRun : public http::Run {
 public:
  using Alone = std::function<void()>;  // stop 9 and on, without a cache
  CachedRun(WorkerTiers& tiers, Forwarder& forwarder, http::Client& client, std::uint32_t route, Alone alone);
  ~CachedRun() override;
  virtual void start() = 0;

  void on_body() override {}
  void on_drained() override;
  void on_abandoned() override;

 protected:
  // The two kinds differ in this.
  virtual void found(cache::EntryPtr entry) = 0;  // what look_up found; nullptr: nothing
  virtual std::unique_ptr<Recipe> recipe() = 0;   // of a call that this run leads
  virtual Fetch::Order order() = 0;
  // Answers with an entry that a backend call ended with. `collapsed`: it was another's call.
  virtual void answer(const cache::EntryPtr& entry, bool collapsed) = 0;
  // Whether an answer that was fetched for another request is the answer to this one.
  virtual bool matches(const cache::Entry&) { return true; }
  // Field lines that go with an answer that is passed on as it comes. `stored`: it is already known that it is.
  virtual std::string lines_for_fetched(bool collapsed, bool stored) = 0;
  // What the first look_up asked for, and a way to begin with it anew.
  virtual const std::string& first_key() const = 0;
  virtual void look_again() = 0;

  void look_up(const std::string& key);
  void join(const std::string& key);
  void fetch_in_background(const std::string& key);
  void go_alone();
  // Sends a head with all of a body and finishes. `body` stands until then if `kept` or this run holds it.
  void send(const http::ResponseHead& head, std::string_view lines, std::string_view body, cache::EntryPtr kept);

  const conf::CacheConfig& config() const { return client_.exchange().route->cache; }
  std::vector<cache::Field> request_fields() const;

  WorkerTiers& tiers_;
  http::Client& client_;
  bool needs_whole_ = false;  // the client wants part of the answer: wait for all of it
  std::string own_body_;      // made for this client
  std::unique_ptr<StoredHead> own_head_;

 private:
  bool arrived() const;
  void take(cache::FlightTable::Joined joined);
  void on_news();
  void handle(cache::Flight::News news);
  void begin(const cache::Flight::News& news);
  void pass_on();  // pieces that are here
  void fail(const cache::Failure& failure);
  void take_attempt();
  void leave();

  Forwarder& forwarder_;
  const std::uint32_t route_;
  Alone alone_;
  cache::WakerPtr waker_;
  std::uint64_t lookup_ = 0;                   // under way in the shared tier
  const cache::Entry* first_found_ = nullptr;  // by the first look_up, to be compared with
  bool looked_ = false;
  bool looked_again_ = false;
  cache::FlightPtr flight_;
  cache::Flight::Ticket ticket_{};
  boost::intrusive_ptr<Fetch> fetch_;  // if this run leads
  unsigned failures_ = 0;              // of calls that this run followed
  std::deque<cache::Piece> pieces_;    // to be sent
  cache::Piece sending_;
  cache::EntryPtr kept_;
  std::string trailers_;
  bool begun_ = false;
  bool head_out_ = false;
  bool paused_ = false;
  bool complete_ = false;  // no further pieces come
  bool finish_when_drained_ = false;
  bool over_ = false;
};

}  // namespace brink::cached
