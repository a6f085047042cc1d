// What the benchmark's origin answers: each answer is made once, as the bytes on the wire and where one write ends and
// the next begins, so that answering costs the origin nothing but its writes.
//
// Event streams look like a chat completion: `data: {"i":0,...}` up to `data: [DONE]`, each event one HTTP chunk. The
// number lets the client prove that no event was lost, repeated or moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brink::bench {

struct Script {
  std::string bytes;
  std::vector<std::size_t> ends;  // of each write, ascending; the last is bytes.size()
};

// One answer with a body of `body_bytes`, in one write.
Script plain_answer(std::string_view content_type, std::size_t body_bytes);

// A stream of `events`: the head, each event and the end are one write each.
Script event_stream(std::size_t events);

// The same bytes in writes of 1 to 128 bytes, cut anywhere; the same seed cuts the same way.
Script in_random_writes(Script script, std::uint32_t seed);

struct Answer {
  std::shared_ptr<const Script> script;
  std::int64_t gap_ns = 0;  // pause between two writes
};

// Finds the answer to a request target. Made by one thread; shares scripts between connections.
//   /w1 128 B   /w2 1 KB JSON   /w4 256 KB   /w220k 1 KB JSON
//   /w3?gap=US  64 events        /w3r?gap=US  64 events in random small writes
//   /stream?events=N&gap=MS      N (1..100000) events
class Answers {
 public:
  Answers();
  std::optional<Answer> find(std::string_view target);  // none: not a target of this origin

 private:
  std::shared_ptr<const Script> stream_of(std::size_t events);

  std::map<std::string, std::shared_ptr<const Script>, std::less<>> plain_;
  std::vector<std::shared_ptr<const Script>> random_writes_;
  std::size_t next_random_ = 0;
  std::map<std::size_t, std::shared_ptr<const Script>> streams_;
};

}  // namespace brink::bench
