// Makes the head that goes on: what the sender may not say to the other side is taken out, then ours is added.
// Unmodified lines are copied as they came, in runs.
#pragma once

#include <string>
#include <string_view>

#include "conf/config.hpp"
#include "proxy/http/exchange.hpp"
#include "proxy/http/local_reply.hpp"

namespace brink::http {

struct RequestEdit {
  std::string_view path;  // with which path the request goes on; query is the head's own
  const conf::RewriteConfig* rewrite = nullptr;
  bool chunked = false;  // framing of the body as it goes on
  bool has_length = false;
  std::uint64_t length = 0;
  bool websocket = false;       // pass the upgrade on
  bool trusted_client = false;  // the client's x-forwarded-* fields are believed and extended
};

// Appends the head to `out`.
void append_request_head(std::string& out, const Exchange& exchange, const RequestEdit& edit);

// Says which fields of a response do not go on as they came, beside those that no response passes on.
class FieldFilter {
 public:
  virtual bool drops(const Field& field) const = 0;

 protected:
  ~FieldFilter() = default;
};

struct ResponseEdit {
  const conf::RewriteConfig* rewrite = nullptr;
  int client_minor_version = 1;
  bool keep_alive = true;
  bool chunked = false;
  bool has_length = false;
  std::uint64_t length = 0;
  const FieldFilter* filter = nullptr;
  std::string_view extra = {};  // field lines of ours, each with CRLF
  std::string_view date = {};   // added when the backend sent none (RFC 9110 section 6.6.1)
  bool switching = false;       // 101: Upgrade and Connection pass on
};

void append_response_head(std::string& out, const Exchange& exchange, const ResponseHead& head,
                          const ResponseEdit& edit);
// An interim response (1xx but 101) as it goes on: no fields of ours.
void append_interim_head(std::string& out, const ResponseHead& head);
// The head of a reply made at the edge.
void append_local_head(std::string& out, const Exchange& exchange, const LocalReply& reply, std::string_view date,
                       int client_minor_version, bool keep_alive);

// Whether a client's x-request-id is taken over: 1..128 characters of [A-Za-z0-9._:@/+=-].
bool sane_request_id(std::string_view id);
// Whether a traceparent is valid (W3C Trace Context section 3.2).
bool valid_traceparent(std::string_view value);

}  // namespace brink::http
