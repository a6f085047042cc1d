// Decodes the inside of a JSON string byte by byte (RFC 8259 section 7), in pieces: escapes and surrogate pairs may be
// cut anywhere. For short strings that are looked at, not for those that are skipped.
#pragma once

#include <cstdint>
#include <string>

namespace brink::router {

class JsonText {
 public:
  enum class Step : std::uint8_t { more, closed, malformed };

  explicit JsonText(std::size_t most) : most_(most) {}
  void start();
  // The next byte after the opening quote. `closed` at the closing one. Malformed: a control character, an unknown
  // escape, half a surrogate pair.
  Step feed(char byte);
  const std::string& text() const { return text_; }
  bool too_long() const { return too_long_; }  // more than `most` bytes decoded; text() holds the first of them

 private:
  enum class Where : std::uint8_t { plain, escape, hex };
  Step feed_escape(char byte);
  Step feed_hex(char byte);
  void append(char byte);
  void append_code_point(std::uint32_t code_point);

  std::size_t most_;
  std::string text_;
  std::uint32_t unit_ = 0;  // a UTF-16 unit being read
  std::uint32_t high_ = 0;  // a high surrogate that wants its low one, or 0
  std::uint8_t digits_ = 0;
  Where where_ = Where::plain;
  bool too_long_ = false;
};

}  // namespace brink::router
