// Reads events out of a stream in pieces, cut anywhere (WHATWG HTML section 9.2.6): lines end with CR LF, LF or CR;
// comments are skipped; several `data` lines make one text; a byte order mark at the start is skipped. An event ends
// with an empty line; at the end of the body the last one needs none, as OpenAI's SDKs read it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brink::cache::inference {

class SseReader {
 public:
  enum class Step : std::uint8_t {
    more,       // all bytes are taken, feed the next
    event,      // data() and event() are set until the next call
    too_large,  // a line or an event beyond max_event; final
  };

  explicit SseReader(std::size_t max_event) : max_event_(max_event) {}

  // Takes bytes off the front of `bytes` up to the end of the next event that has data or a name.
  Step next(std::string_view& bytes);
  Step finish();  // the body is complete: `event` if one was pending, else `more`

  std::string_view data() const { return data_; }    // lines joined by '\n', without the last one's end
  std::string_view event() const { return event_; }  // the `event` field, or empty

 private:
  Step end_line(std::string_view line);
  Step end_event();
  Step overflow();

  std::size_t max_event_;
  std::string line_;  // the start of a line whose end is not here yet
  std::string data_;
  std::string event_;
  bool has_data_ = false;
  bool dispatched_ = false;  // data_ and event_ belong to an event that was handed out
  bool after_cr_ = false;    // a line feed now belongs to the line end before
  bool at_start_ = true;     // no line was read
  bool too_large_ = false;
};

}  // namespace brink::cache::inference
