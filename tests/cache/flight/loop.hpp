// What the tests of flights share: a loop whose posted work runs when the test says so, and a follower that counts.
#pragma once

#include <boost/asio/io_context.hpp>

#include "cache/flight/flight.hpp"

namespace brink::cache {

struct Woken {
  explicit Woken(boost::asio::io_context& context)
      : waker(new Waker(
            context, [](void* self) { ++static_cast<Woken*>(self)->count; }, this)) {}
  ~Woken() { waker->detach(); }
  Woken(const Woken&) = delete;
  Woken& operator=(const Woken&) = delete;

  int count = 0;
  WakerPtr waker;
};

inline void run_all(boost::asio::io_context& context) {
  context.restart();
  context.poll();
}

inline EntryPtr head_named(const char* name) {
  const boost::intrusive_ptr<Entry> entry(new Entry);
  entry->key = name;
  return entry;
}

inline Piece piece_of(std::size_t size, Budget* budget = nullptr) {
  return Piece(new Bytes(std::string(size, 'x'), budget));
}

}  // namespace brink::cache
