// Turns the pieces of an answer, as the model makes them, into text that may be shown: whole UTF-8 characters only, and
// nothing of a stop string, though both come in parts. One gate an answer; one thread; no I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brink::model {

// Lets whole characters through and keeps the beginning of one back. What cannot be UTF-8 (RFC 3629) becomes U+FFFD,
// one for a bad character, so that what comes out is always valid.
class Utf8Gate {
 public:
  std::string push(std::string_view bytes);

 private:
  std::string held_;  // at most three bytes
};

// Lets through what cannot be the beginning of a stop string. The first stop string to be complete ends the text before
// it, whatever the pieces were; of two complete at the same byte the longer counts.
class StopGate {
 public:
  explicit StopGate(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  std::string push(std::string_view text);
  bool stopped() const { return stopped_; }
  std::string flush();  // what was held, when the answer ends without a stop string

 private:
  std::vector<std::string> stops_;
  std::string held_;  // shorter than the longest stop string
  bool stopped_ = false;
};

class TextGate {
 public:
  explicit TextGate(std::vector<std::string> stops) : stop_(std::move(stops)) {}
  std::string push(std::string_view piece) { return stop_.push(utf8_.push(piece)); }
  bool stopped() const { return stop_.stopped(); }
  // The end: what was held for a stop string. A character that never became whole is dropped.
  std::string flush() { return stop_.flush(); }

 private:
  Utf8Gate utf8_;
  StopGate stop_;
};

// True if the text is UTF-8 all through.
bool is_utf8(std::string_view text);
// True if it is, or can become so by what follows.
bool is_utf8_beginning(std::string_view text);

}  // namespace brink::model
