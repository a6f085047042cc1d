// Finds the top-level `model` member of a JSON object in a body that arrives piece by piece, without building a tree and
// without keeping the body: one pass, a few machine words of state. Nested `model` members and text inside strings do not
// count. Of duplicate members the first is taken (RFC 8259 section 4 leaves it open) .
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brink::router {

class ModelScanner {
 public:
  enum class State : std::uint8_t {
    searching,  // feed more
    found,      // model() is set
    absent,     // not a JSON object, malformed up to here, `model` is not a string, or the object ended without it
  };
  static constexpr std::size_t max_model = 256;  // bytes of a model name; a longer one is `absent`

  State feed(std::string_view bytes);  // returns the state after these bytes; further calls after the end change nothing
  State finish();                      // the body is complete
  State state() const;
  const std::string& model() const;    // escapes decoded (RFC 8259 section 7), with `found`
  // Where the value with its quotes stands in the body, byte offsets from its start, with `found`.
  std::uint64_t value_begin() const;
  std::uint64_t value_end() const;
};

}  // namespace brink::router
