// Finds the next byte that matters in JSON text, sixteen and more at a time: large prompts are long strings, and
// walking them byte by byte would cost more than proxying them. SSE2 is part of every x86-64; elsewhere eight bytes go
// in a word.
#pragma once

#include <cstdint>

namespace brink::router {

// The first `"` or `\` in [begin, end), or end. For use inside a string.
const char* find_string_special(const char* begin, const char* end);

// Where a walk through nested objects and arrays stands.
struct Nesting {
  std::uint64_t depth = 1;  // open brackets
  bool in_string = false;
  bool escaped = false;  // in a string, and the last byte was a backslash that escapes the next
};

// Walks whole blocks of 64 bytes for as long as the depth surely stays above 0, and returns where it stopped: at a
// block that may close the last bracket or has a backslash outside a string, or with less than a block left. At that
// block the caller goes on byte by byte. Costs the same whether strings are long or short. Moves nothing where there is
// no SSE2.
const char* skip_nested_blocks(const char* begin, const char* end, Nesting& nesting);

// The first `"`, bracket or brace in [begin, end), or end. For use outside strings. May also stop at Y, _, y or DEL,
// which no valid JSON has outside strings, so callers ignore what they do not expect.
const char* find_structural(const char* begin, const char* end);

}  // namespace brink::router
