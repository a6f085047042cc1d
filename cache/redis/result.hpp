// What Redis answered, or why it did not. Values, of whoever holds them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace brink::cache::redis {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// One reply of RESP2 (https://redis.io/docs/reference/protocol-spec/).
struct Reply {
  enum class Type : std::uint8_t { nil, string, status, error, integer, array };
  Type type = Type::nil;
  std::int64_t integer = 0;
  std::string text;  // of string, status and error
  std::vector<Reply> elements;

  bool is_error() const { return type == Type::error; }
  // The first word of an error's text says its kind: "MOVED", "READONLY", ...
  bool is_error(std::string_view kind) const;
};

enum class ErrorKind : std::uint8_t {
  none,
  timeout,      // no answer in time; a change may have happened all the same
  unavailable,  // no connection, or asking is stopped for a while after failures
  refused,      // too many commands or bytes wait already, or this one is too large
  protocol,     // the answer was no RESP, or too large
  server,       // Redis answered with an error: its text
};
std::string_view to_string(ErrorKind kind);

struct Result {
  ErrorKind error = ErrorKind::none;
  std::string text;  // why, for a log line; empty without an error
  Reply reply;       // nil with an error

  bool ok() const { return error == ErrorKind::none; }
  bool nil() const { return ok() && reply.type == Reply::Type::nil; }
};

using Callback = std::function<void(Result&&)>;

}  // namespace brink::cache::redis
