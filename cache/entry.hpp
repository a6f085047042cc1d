// A stored response, and what decides how it may be used. Filled by one thread, then published as
// `intrusive_ptr<const Entry>` and never changed again (but for `soft_purged`): any number of workers read one copy of
// its bytes. Something new about a stored response, such as a 304, makes a new Entry.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace brink::cache {

// Freshness crosses nodes and is told in dates, so it is counted on the wall clock.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;
using Duration = std::chrono::milliseconds;

// One header field; views into text that its holder keeps.
struct Field {
  std::string_view name;   // as sent
  std::string_view value;  // without surrounding white space
};

// RFC 9111 section 4.2, and RFC 5861. Ages and lifetimes are never negative.
struct Freshness {
  WallTime response_time{};  // when the response was received, or last validated
  Duration initial_age{};    // corrected_initial_age of section 4.2.3
  Duration lifetime{};       // freshness_lifetime of section 4.2.1
  Duration stale_while_revalidate{};
  Duration stale_if_error{};
  bool must_revalidate = false;  // never stale: must-revalidate, proxy-revalidate or s-maxage
  bool always_validate = false;  // no-cache: stored, but validated before each use

  Duration age(WallTime now) const { return initial_age + (now > response_time ? now - response_time : Duration{}); }
  Duration ttl(WallTime now) const { return lifetime - age(now); }  // negative once stale
};

// What the one who stores an entry prepares for those who read it, such as the head in another form.
struct Attachment {
  virtual ~Attachment() = default;
};

struct Entry : boost::intrusive_ref_counter<Entry, boost::thread_safe_counter> {
  enum class Kind : std::uint8_t {
    response,
    variants,  // of the URL there are responses for different request fields: `vary` names them
  };

  std::string key;  // the whole of it; what it is made of says who made it (http/, inference/)
  Kind kind = Kind::response;
  Freshness freshness;
  WallTime useful_until{};  // past it there is no use of it, not even stale: any tier may drop it

  // What a purge can name. Empty: nothing of the kind.
  std::string url;  // http://host/path?query as the client asked, host in lower case
  std::string route;
  std::string model;
  std::vector<std::string> tags;

  // Kind::variants: the lists of request fields that select a response, newest first; names in lower case, sorted.
  std::vector<std::vector<std::string>> vary;

  // Kind::response. The fields that go on to clients (nothing hop-by-hop, no Age, no framing), each "name: value\r\n".
  unsigned status = 0;
  std::string head;
  std::vector<Field> fields;  // views into `head`
  std::string body;           // as the backend sent it, without transfer coding
  std::string zstd;           // the body as one zstd frame, where that is smaller and `body` is not encoded; or empty

  std::unique_ptr<const Attachment> attachment;  // or nullptr

  mutable std::atomic<bool> soft_purged{false};  // use it only as a stale response

  // Bytes that it costs in memory, its own members and a guess at the bookkeeping of a store included.
  std::size_t footprint() const;
  const Field* find(std::string_view name) const;  // the first of that name, case-insensitive; nullptr if absent
  // Fills `fields` from `head`. Lines without a colon are left out.
  void index_fields();
};

using EntryPtr = boost::intrusive_ptr<const Entry>;

}  // namespace brink::cache
