// Reads one HTTP/1.1 response as the benchmark's client needs it: where it ends, how long its body was, and for an
// event stream whether each event came, once and in order. No I/O; bytes may be cut anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brink::bench {

// Counts the lines `data: {"i":N,...}` of a stream that must carry N = 0, 1, 2, ... and end with `data: [DONE]`.
class EventCounter {
 public:
  void feed(std::string_view body);
  std::uint64_t in_order() const { return in_order_; }  // events that came where they should
  bool disordered() const { return disordered_; }       // some number was skipped, repeated or unreadable
  bool done() const { return done_; }                   // the last event came

 private:
  void on_line(std::string_view line);

  std::string line_;  // the start of a line that is not complete; only as much as on_line reads
  std::uint64_t in_order_ = 0;
  bool disordered_ = false;
  bool done_ = false;
};

class ResponseReader {
 public:
  enum class State { reading, complete, broken };

  explicit ResponseReader(bool count_events) : count_events_(count_events) {}

  // Makes ready for the next response of the connection.
  void reset() { *this = ResponseReader(count_events_); }

  // Takes bytes up to the end of the response; returns how many. Less than all only when complete or broken.
  std::size_t feed(std::string_view bytes);
  // The peer has closed: ends a body that has no other end, breaks any other.
  void end_of_input();

  State state() const { return state_; }
  int status() const { return status_; }
  bool keep_alive() const { return keep_alive_; }
  std::uint64_t body_bytes() const { return body_bytes_; }
  const EventCounter& events() const { return events_; }

 private:
  enum class Part { head, fixed, chunk_size, chunk_data, chunk_end, trailer, until_close };

  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_line(std::string_view bytes);
  std::size_t feed_data(std::string_view bytes);
  void on_head(std::string_view head);
  void on_field(std::string_view name, std::string_view value);
  void on_line(std::string_view line);

  bool count_events_;
  State state_ = State::reading;
  Part part_ = Part::head;
  std::string text_;  // a head or line that is not complete
  std::uint64_t left_ = 0;
  int status_ = 0;
  bool keep_alive_ = true;
  std::uint64_t body_bytes_ = 0;
  EventCounter events_;
};

}  // namespace brink::bench
