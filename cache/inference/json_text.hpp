// The grammar of JSON, token by token, over text that is there as a whole (RFC 8259): strict, UTF-8 checked, never past
// `end`. What RequestKey and JsonReader are made of. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace brink::cache::inference {

const char* skip_space(const char* at, const char* end);

// Inside a string: the first byte that is `"`, `\`, a control character or no ASCII, or end. Sixteen bytes a step.
const char* skip_plain(const char* at, const char* end);

// The end of the longest run of well-formed sequences beyond ASCII (RFC 3629) at `at`. nullptr: there is none.
const char* skip_utf8(const char* at, const char* end);

// Reads the escape at `at`, which is after its backslash; both halves of a surrogate pair. Returns its end, or nullptr:
// unknown, cut off, or half a pair.
const char* read_escape(const char* at, const char* end, std::uint32_t& code_point);

void append_utf8(std::string& out, std::uint32_t code_point);

// Goes over the string at `at`, which is after its opening quote. Returns what is after the closing one, or nullptr:
// malformed. `escaped` says whether it has escapes.
const char* skip_string(const char* at, const char* end, bool& escaped);

// The inside of a string that skip_string went over.
std::string unescape(const char* begin, const char* end);

// Goes over the number at `at`; nullptr: there is none.
const char* skip_number(const char* at, const char* end);

// Goes over `true`, `false` or `null`; nullptr: there is none.
const char* skip_literal(const char* at, const char* end);

}  // namespace brink::cache::inference
