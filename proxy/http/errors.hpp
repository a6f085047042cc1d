// Every way an exchange can fail, once: the table feeds the reply, the access log, the metric and the docs.
#pragma once

#include <cstdint>
#include <string_view>

namespace brink::http {

// kind, status, OpenAI error type, sentence for the client. 499 is never sent: the client had gone.
// clang-format off
#define BRINK_ERROR_KINDS(X)                                                                                                     \
  X(none,                    0,   "",                      "")                                                                   \
  X(malformed_request,       400, "invalid_request_error", "the request is not well-formed HTTP/1.1")                            \
  X(bad_upgrade,             400, "invalid_request_error", "the WebSocket upgrade is not well-formed (RFC 6455 section 4.2.1)")  \
  X(no_route,                404, "invalid_request_error", "no route matches this host, path and model")                         \
  X(method_not_allowed,      405, "invalid_request_error", "the method is not allowed here")                                     \
  X(head_timeout,            408, "invalid_request_error", "the request head did not arrive in time")                            \
  X(body_timeout,            408, "invalid_request_error", "the request body did not arrive in time")                            \
  X(body_too_large,          413, "invalid_request_error", "the request body is larger than this route takes")                   \
  X(undecodable_body,        400, "invalid_request_error", "the request body is not what its content-encoding says") \
  X(unsupported_coding,      415, "invalid_request_error", "the content-encoding of the request is not one of zstd and gzip") \
  X(target_too_long,         414, "invalid_request_error", "the request target is too long")                                     \
  X(expectation_failed,      417, "invalid_request_error", "the only expectation understood is 100-continue")                    \
  X(upgrade_required,        426, "invalid_request_error", "WebSocket version 13 is required")                                   \
  X(head_too_large,          431, "invalid_request_error", "the request head is too large")                                      \
  X(too_many_fields,         431, "invalid_request_error", "the request head has too many fields")                               \
  X(client_gone,             499, "",                      "the client closed the connection")                                   \
  X(client_stalled,          499, "",                      "the client took no byte for too long")                               \
  X(internal,                500, "server_error",          "the edge failed to handle the request")                              \
  X(unknown_coding,          501, "invalid_request_error", "the transfer coding is not implemented")                             \
  X(connect_failed,          502, "server_error",          "no connection to the backend could be made")                         \
  X(upstream_reset,          502, "server_error",          "the backend closed the connection before it answered")               \
  X(upstream_malformed,      502, "server_error",          "the backend's answer is not well-formed HTTP/1.1")                   \
  X(upstream_truncated,      502, "server_error",          "the backend cut its answer short")                                   \
  X(upgrade_refused,         502, "server_error",          "the backend answered the upgrade wrongly")                           \
  X(attempts_failed,         502, "server_error",          "every attempt was answered with an error by the backends")           \
  X(no_endpoint,             503, "server_error",          "no backend can take the request now")                                \
  X(cluster_full,            503, "server_error",          "the backends are at their request limit")                            \
  X(queue_timeout,           503, "server_error",          "the request waited too long for a free backend")                     \
  X(connect_timeout,         504, "server_error",          "the backend did not accept the connection in time (connect)")        \
  X(first_byte_timeout,      504, "server_error",          "the backend did not begin to answer in time (first_byte)")           \
  X(idle_timeout,            504, "server_error",          "the backend stopped sending for too long (idle)")                    \
  X(not_cached,              504, "invalid_request_error", "the request wants a stored answer only (only-if-cached), and there is none") \
  X(total_timeout,           504, "server_error",          "the exchange took too long (total)")                                 \
  X(deadline_exceeded,       504, "server_error",          "the time limit that the request itself asked for has passed (deadline)") \
  X(tunnel_timeout,          504, "server_error",          "the tunnel was idle for too long (tunnel)")                          \
  X(bad_version,             505, "invalid_request_error", "only HTTP/1.0 and HTTP/1.1 are spoken here")
// clang-format on

enum class ErrorKind : std::uint8_t {
#define BRINK_KIND(kind, status, type, text) kind,
  BRINK_ERROR_KINDS(BRINK_KIND)
#undef BRINK_KIND
};

struct ErrorInfo {
  std::string_view code;  // the kind's name: in the reply's `code`, the log's `error`, the metric's label
  unsigned status;
  std::string_view type;
  std::string_view text;
};

const ErrorInfo& info(ErrorKind kind);
std::size_t error_kind_count();

// The name a status line gives to a status; "Unknown" for those the registry does not list.
std::string_view reason_phrase(unsigned status);

}  // namespace brink::http
