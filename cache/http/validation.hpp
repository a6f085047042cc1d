// What a 304, or the response to HEAD, changes in a stored response: RFC 9111 sections 3.2, 4.3.4 and 4.3.5. Pure; any
// thread. The stored response itself never changes: a new Entry takes its place.
#pragma once

#include <cstdint>

#include "cache/http/storing.hpp"

namespace brink::cache::http {

struct Updated {
  EntryPtr entry;   // the stored body with the new fields and freshness; to be sent to the client
  Storing storing;  // of `entry`. Where it may not be stored (any more) the old one is to be dropped
};

// Which of several stored responses a 304 speaks of (section 4.3.4): those with its ETag, or its Last-Modified where it
// has no ETag. One without either speaks of all that were asked about.
bool is_selected_by(Fields not_modified, const Entry& entry);

// `not_modified` answers a validation of `entry` alone. Its fields take the place of those of the same name, but for
// those that belong to the stored body. Where it names another response than `entry` (is_selected_by), no field of it
// but Date is taken: the origin has said that what was asked about is still good, not what it is.
Updated update(const Entry& entry, const Request& request, const Response& not_modified,
               const StoreOptions& options = {});

enum class HeadEffect : std::uint8_t {
  none,
  update,      // the stored response to GET is the same: update() with the response to HEAD
  invalidate,  // it is another by now: count it as stale
};

// What the response to a HEAD request says of the stored response to GET of the same URL and Vary key. Without a
// validator in it there is no effect, where the RFC would update: else whoever polls with HEAD would keep an old body
// fresh for ever.
HeadEffect effect_of_head(const Response& head, const Entry& entry);

}  // namespace brink::cache::http
