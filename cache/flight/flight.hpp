// One backend call that any number of identical requests wait for: the leader makes it, followers get its bytes as they
// arrive, whichever worker they are on. Nobody polls: who has news wakes who waits.
//
// While the answer is to be stored its pieces are kept from the first one on, so that a follower may join at any time.
// When it turns out not to be (too large), pieces go as soon as every follower has them, the slowest one slows the
// leader down, and nobody joins any more.
//
// Thread-safe, every member. The leader's side is used by one thread, each ticket by its own.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "cache/entry.hpp"
#include "cache/flight/bytes.hpp"
#include "cache/flight/waker.hpp"

namespace brink::cache {

// Why there is no answer. The numbers are the embedder's.
struct Failure {
  unsigned kind = 0;
  std::string detail;
};

class Flight : public boost::intrusive_ref_counter<Flight, boost::thread_safe_counter> {
 public:
  enum class Phase : std::uint8_t { waiting, streaming, complete, failed };
  static constexpr std::size_t backlog = std::size_t{256} * 1024;  // bytes no follower has taken, past which to pause

  // `calls`: 1, and one more for each that failed before it and whose followers it takes over.
  explicit Flight(std::string key, unsigned calls = 1) : calls_(calls), key_(std::move(key)) {}
  unsigned calls() const { return calls_; }
  const std::string& key() const { return key_; }

  // The leader's side. `publisher` is woken when there is room again, or when the last follower has left.
  void set_publisher(WakerPtr publisher);
  // The head is here, as Entries without body: what the leader's own client may see, and what the others may. nullptr
  // for those: the answer is the leader's own client's alone.
  void open(EntryPtr head, EntryPtr others);
  bool append(Piece piece);  // false: pause until congested() is false
  void stop_keeping();       // the answer will not be stored
  // The answer is whole. `entry`: what to answer with instead of the pieces, as after a validation; or what was stored.
  void complete(EntryPtr entry, std::string trailers);
  void fail(Failure failure);
  bool congested() const;
  bool deserted() const;  // nobody follows

  // A follower's side.
  struct Follower {
    WakerPtr waker;
    std::size_t next = 0;  // index of the piece to take next
    bool leader = false;
  };
  using Ticket = std::list<Follower>::iterator;
  struct News {
    Phase phase = Phase::waiting;
    bool shared = true;         // false: go on your own
    bool kept = true;           // it may still be stored: nothing is dropped while it is waited for
    EntryPtr head;              // from `streaming` on; nullptr if `entry` is all there is
    EntryPtr entry;             // with `complete`, perhaps
    std::string trailers;       // with `complete`; field lines
    Failure failure;            // with `failed`
    std::vector<Piece> pieces;  // those not seen yet
  };
  Ticket follow(WakerPtr waker, bool leader);
  News look(Ticket ticket);
  void leave(Ticket ticket);
  std::size_t followers() const;

 private:
  void wake_all();            // REQUIRES: the lock
  void drop_taken();          // REQUIRES: the lock
  bool is_congested() const;  // REQUIRES: the lock

  friend class FlightTable;
  const unsigned calls_;
  const std::string key_;
  boost::intrusive_ptr<Flight> successor_;  // of one that failed; the table's, under its lock
  mutable std::mutex mutex_;
  Phase phase_ = Phase::waiting;
  bool shared_ = true;
  bool keeping_ = true;
  bool paused_ = false;  // append() said so
  EntryPtr head_;
  EntryPtr others_;  // the head for all but the leader
  EntryPtr entry_;
  std::string trailers_;
  Failure failure_;
  std::deque<Piece> pieces_;
  std::size_t first_ = 0;  // index of the front piece
  std::size_t held_ = 0;   // bytes in `pieces_`
  std::list<Follower> followers_;
  WakerPtr publisher_;
};

using FlightPtr = boost::intrusive_ptr<Flight>;

}  // namespace brink::cache
