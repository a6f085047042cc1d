// May a stored response answer this request as it is, after validation, or not at all: RFC 9111 section 4, RFC 5861.
// Pure; any thread.
#pragma once

#include <cstdint>

#include "cache/http/messages.hpp"

namespace brink::cache::http {

// Why a request went on to a backend, in the words of RFC 9211 section 2.2.
enum class Forward : std::uint8_t { none, bypass, method, uri_miss, vary_miss, request, stale, partial };

enum class Use : std::uint8_t {
  serve,              // the stored response, as it is
  serve_and_refresh,  // the stored response, stale; and a validation of it in the background
  validate,           // send the request on with the conditions of the stored response
  fetch,              // nothing of use is stored: send the request on, the response may be stored
  bypass,             // send the request on as it came; neither use nor store
  refuse,             // only-if-cached, and there is nothing to use: 504
};

struct Decision {
  Use use = Use::fetch;
  Forward forward = Forward::none;  // where a request is sent on; of serve_and_refresh: for the background one
};

struct UseOptions {
  bool heed_request = true;                             // Cache-Control and Pragma of clients count
  Duration serve_disconnected = std::chrono::hours(1);  // how stale an answer may be while nothing answers behind it
};

// The request is none that a cache may answer, or one that it must pass on untouched: use = bypass. Else use = fetch,
// or refuse; the caller looks for a stored response in the first case. Cheap: to be asked before a key is made.
Decision without_entry(const Request& request, Forward why = Forward::uri_miss, const UseOptions& options = {});

// `entry` is the stored response that the URL and its Vary fields select; REQUIRES kind == response.
Decision decide(const Request& request, const Entry& entry, WallTime now, const UseOptions& options = {});

// Validation of `entry`, or its replacement, failed: `status` came instead, or no response at all (0). May the stored
// response be the answer? Only to 500, 502, 503, 504 and silence, within stale-if-error of the response or the request;
// to silence also within `serve_disconnected` (RFC 9111 section 4.2.4). Never where the response forbids it.
bool may_serve_on_error(const Request& request, const Entry& entry, unsigned status, WallTime now,
                        const UseOptions& options = {});

// Age in whole seconds, to be sent with a stored response (section 5.1).
std::chrono::seconds age_to_send(const Entry& entry, WallTime now);

}  // namespace brink::cache::http
