// A response head that stands by itself: a copy of its text, parsed. What cache entries carry so that a hit is written
// as any other response. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cache/entry.hpp"
#include "conf/config.hpp"
#include "proxy/http/head.hpp"

namespace brink::cached {

struct StoredHead final : cache::Attachment {
  std::string text;
  http::ResponseHead head;  // views into `text`

  // `lines`: field lines, each with CRLF, without framing. nullptr if they make no valid head.
  static std::unique_ptr<StoredHead> make(unsigned status, std::string_view lines);
  // A copy of a head that a backend sent, its framing included.
  static std::unique_ptr<StoredHead> copy(const http::ResponseHead& head);
  void set_length(std::uint64_t length);  // the body that follows has this many bytes
  void set_framing(const http::ResponseHead& as);  // it is delimited as the one after that head
};

// Compresses the body once for all clients that take zstd, where the route compresses and it is worth it. Bodies that
// would hold up the worker are left to be compressed as they are sent.
void add_zstd(cache::Entry& entry, const conf::RouteConfig& route);

// Gives the entry its head, with the length of its body. False: the entry cannot be sent and is of no use.
bool attach_head(cache::Entry& entry);
inline const http::ResponseHead& head_of(const cache::Entry& entry) {
  return static_cast<const StoredHead&>(*entry.attachment).head;
}

}  // namespace brink::cached
