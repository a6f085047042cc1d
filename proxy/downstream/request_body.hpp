// The request body as it arrives: takes framing off, holds what was read and not consumed, and remembers what was
// consumed while it may have to be sent again. No I/O: the session feeds it. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/filter/decoder.hpp"
#include "proxy/http/chunked.hpp"
#include "proxy/http/run.hpp"
#include "proxy/net/buffer_pool.hpp"

namespace brink::downstream {

class RequestBody {
 public:
  // Consumed bytes kept for rewind() at most, beyond what the first buffer holds: a prompt of 1 MiB, and the piece that
  // it ends in, may be sent again to another backend. They take at most twice that in memory.
  static constexpr std::size_t max_retained = 1024 * 1024 + net::BufferPool::large;

  // Begins a message's body. `first`: the raw bytes that came with the head; they stand until reset().
  // Returns how many of them, at their end, belong to the next request.
  std::size_t start(http::Framing framing, std::uint64_t length, std::uint64_t limit, char* first,
                    std::size_t first_size);
  void reset();

  // Whatever the peer sends is body from now on, until finish_raw(). REQUIRES: complete().
  void become_raw(std::string_view first);
  void finish_raw() { complete_ = true; }

  http::BodyView view() const;
  void consume(std::size_t size);
  bool rewind();
  // It will not be sent again: what is consumed is let go, now and later.
  void keep_nothing();
  std::string copy() const;  // what is not consumed, joined
  std::string_view unseen();

  // From here on, and for what has arrived, the body is what its content codings hide; the limit counts decoded bytes.
  // REQUIRES: nothing was consumed or seen.
  void decode(const filter::Codings& codings);

  bool complete() const { return complete_; }  // all of it has arrived
  bool drained() const;                        // complete and consumed
  std::size_t unconsumed() const { return unconsumed_; }
  http::BodyError error() const { return error_; }
  const char* error_text() const { return error_text_; }
  std::uint64_t received() const { return received_; }  // decoded bytes so far
  std::string_view trailers() const { return reader_.trailers(); }
  void set_limit(std::uint64_t limit);

  // Where the session reads next: a buffer and how much of it may be filled. REQUIRES: !complete().
  std::size_t read_size() const;
  // Takes over a filled buffer, unless none of it is content. Returns how many bytes at the end of the `size` belong to
  // the next request; they stand where they were read until the next call.
  std::size_t feed(net::Buffer& buffer, std::size_t size);
  const char* last_read_end() const { return last_read_end_; }  // end of the `size` bytes of the last feed

 private:
  struct Segment {
    net::Buffer owner;  // empty for the bytes that came with the head
    const char* data;
    std::size_t size;
    std::unique_ptr<std::string> text;  // of a decoded piece, instead of `owner`
  };
  std::size_t decode(char* data, std::size_t size, net::Buffer& owner);
  void drop_consumed();
  static void compact(Segment& segment);
  void keep(net::Buffer owner, const char* data, std::size_t size);
  void take_coding_off(std::string_view bytes, bool last);

  http::Framing framing_ = http::Framing::none;
  std::uint64_t remaining_ = 0;  // with Framing::length
  std::uint64_t limit_ = 0;
  std::uint64_t received_ = 0;
  http::ChunkedReader reader_;
  std::optional<filter::Decoder> decoder_;
  std::vector<Segment> segments_;
  std::size_t current_ = 0;  // segment of the consume position
  std::size_t offset_ = 0;   // within it
  std::size_t seen_ = 0;     // first segment not yet handed out by unseen()
  std::size_t unconsumed_ = 0;
  bool dropped_ = false;  // some consumed bytes are gone
  bool keeping_ = true;
  bool complete_ = true;
  bool raw_ = false;
  http::BodyError error_ = http::BodyError::none;
  const char* error_text_ = "";
  const char* last_read_end_ = nullptr;
};

}  // namespace brink::downstream
