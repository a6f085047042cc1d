// The commands of one connection in the order they go out, so that replies find theirs: what waits to be sent, what
// waits for a reply, and whose reply comes too late for anyone. Decisions only, `now` is an argument; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "cache/redis/resp.hpp"
#include "cache/redis/result.hpp"

namespace brink::cache::redis {

class Pipeline {
 public:
  using Id = std::uint64_t;  // not 0

  // Late commands count as in flight until their reply comes: it still has to be told apart.
  Pipeline(std::size_t max_in_flight, std::size_t max_queued_bytes)
      : max_in_flight_(max_in_flight), max_queued_bytes_(max_queued_bytes) {}

  // `wire` holds as many commands as there will be `replies`; the last reply is the one that counts (ASKING and a
  // command). False: too much waits already.
  bool push(Id id, Wire wire, unsigned replies, Time deadline);

  struct Batch {
    std::string_view bytes;  // empty: nothing to send
    std::shared_ptr<const void> keep;
  };
  // What to write next: small commands together, a large one by itself and without a copy. They count as sent.
  Batch take(Time now);
  void written() { writing_bytes_ = 0; }  // the batch taken last

  enum class Match : std::uint8_t { unexpected, skip, answer };
  // Whose reply the next one is. skip: nobody's, it is late or not the last of its command.
  Match match(Id& id);

  // Commands whose deadline is over. Those not yet sent never will be.
  std::vector<Id> expire(Time now);
  // The oldest reply is late by so much that the connection is as good as dead.
  bool overdue(Time now, Clock::duration limit) const;
  // When to call expire() and overdue() next; Time::max() for not at all.
  Time next_wake(Clock::duration limit) const;

  // Forgets everything, as the connection is lost. Returns the commands that still wait, oldest first; with
  // `keep_unsent` only those that were sent, and the others wait on for a new connection.
  std::vector<Id> clear(bool keep_unsent);

  std::size_t in_flight() const { return commands_.size(); }

 private:
  struct Command {
    Id id;  // 0: late
    unsigned replies;
    Time deadline;
    Time sent;
    Wire wire;  // released once sent
  };
  static constexpr std::size_t most_together = 64 * 1024;

  const std::size_t max_in_flight_, max_queued_bytes_;
  std::deque<Command> commands_;
  std::size_t sent_ = 0;  // the first so many of them
  std::size_t queued_bytes_ = 0, writing_bytes_ = 0;
};

}  // namespace brink::cache::redis
