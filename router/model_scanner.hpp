// Finds the top-level `model` member of a JSON object in a body that arrives piece by piece, without building a tree
// and without keeping the body: one pass, a few machine words of state and the name itself. Nested `model` members and
// text inside strings do not count. Of duplicate members the first is taken (RFC 8259 section 4 leaves it open). Where
// the body is cut into pieces changes nothing. One thread at a time.
//
// It is a finder, not a validator: what it must understand to find the member is held to the grammar, what it skips is
// not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "router/json_text.hpp"

namespace brink::router {

class ModelScanner {
 public:
  enum class State : std::uint8_t {
    searching,  // feed more
    found,      // model() is set
    absent,     // not a JSON object, malformed up to here, `model` is not a string, or the object ended without it
  };
  static constexpr std::size_t max_model = 256;  // bytes of a model name; a longer one is `absent`

  State feed(
      std::string_view bytes);  // returns the state after these bytes; further calls after the end change nothing
  State finish();               // the body is complete
  State state() const { return state_; }
  const std::string& model() const { return text_.text(); }  // escapes decoded (RFC 8259 section 7), with `found`
  // Where the value with its quotes stands in the body, byte offsets from its start, with `found`.
  std::uint64_t value_begin() const { return value_begin_; }
  std::uint64_t value_end() const { return value_end_; }

 private:
  // What the next byte belongs to.
  enum class Where : std::uint8_t {
    before_object,
    first_key,
    next_key,
    key,
    long_key,  // cannot be `model` any more
    colon,
    value,
    model,
    string,  // skipped, at any depth
    nested,  // inside an object or array, outside strings
    scalar,
    after_value,
  };
  const char* skip_blocks(const char* at, const char* end);
  const char* skip_string(const char* at, const char* end);
  const char* skip_nested(const char* at, const char* end);
  void step(char byte, std::uint64_t offset);
  void step_before_object(char byte, std::uint64_t offset);
  void step_key(char byte);
  void step_value(char byte, std::uint64_t offset);
  void step_model(char byte, std::uint64_t offset);
  void step_after_value(char byte);
  void expect(bool right, Where next);

  JsonText text_{max_model};
  std::uint64_t consumed_ = 0;  // bytes of earlier calls
  std::uint64_t value_begin_ = 0;
  std::uint64_t value_end_ = 0;
  std::uint64_t depth_ = 0;  // of brackets around what is skipped, 0 at the top level's members
  State state_ = State::searching;
  Where where_ = Where::before_object;
  bool is_model_ = false;
  std::uint8_t mark_ = 0;  // bytes of a byte order mark seen
  bool escaped_ = false;   // the last byte was a backslash in a skipped string
};

}  // namespace brink::router
