// What the fields of a message say about time: how long a client waits, and when a backend wants to be asked again.
// Pure functions, any thread. Fields that cannot be understood say nothing.
#pragma once

#include <chrono>
#include <optional>

#include "proxy/http/head.hpp"

namespace brink::http {

// How long the client waits, from the request's first byte on. Where several fields say it, the shortest counts.
struct TimeHints {
  std::optional<std::chrono::milliseconds> total;  // grpc-timeout; x-request-timeout: `1500`, `1500ms`, `2s`, `1m`
  // x-stainless-timeout, in seconds: the OpenAI SDK's timer ends with the response's head, so a stream may go on.
  std::optional<std::chrono::milliseconds> head;
};
TimeHints time_hints(const RequestHead& head);

// From retry-after-ms, else Retry-After (RFC 9110 section 10.2.3: seconds, or a date), 0 to 60 s; more is cut.
std::optional<std::chrono::milliseconds> retry_after(const ResponseHead& head,
                                                     std::chrono::system_clock::time_point now);

}  // namespace brink::http
