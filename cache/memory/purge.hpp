// What a purge names, and the text in which a purge travels between nodes (a message of Redis pub/sub). Plain values:
// any thread.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/entry.hpp"

namespace brink::cache {

// A group of entries: those whose `kind` member has exactly this text. A URL names all of its entries: the responses
// of every variant and the list of its variants. `all` needs no text.
struct Purge {
  enum class Kind : std::uint8_t { url, tag, route, model, all };

  Kind kind = Kind::all;
  std::string text;

  bool operator==(const Purge&) const = default;
};

// A purge that took place. `soft`: what it names may still be used as a stale response; otherwise it is gone.
struct PurgeNotice {
  Purge what;
  bool soft = false;
  WallTime at{};

  bool operator==(const PurgeNotice&) const = default;
};

enum class PurgeTextError : std::uint8_t { too_long, unknown_version, bad_kind, bad_mode, bad_time, bad_text };

std::string_view describe(PurgeTextError error);

// "brink-purge/1 <kind> <hard|soft> <milliseconds since 1970> <text>"; the text is the rest, byte for byte.
std::string to_text(const PurgeNotice& notice);

// Reads what to_text() wrote. Takes any bytes. Errors: longer than `max_purge_text`, another version, a kind or mode
// that is not known, a time that is not a number or negative, no text where the kind needs one or one where it has
// none.
constexpr std::size_t max_purge_text = 64 * 1024;
boost::system::result<PurgeNotice, PurgeTextError> from_text(std::string_view text);

}  // namespace brink::cache
