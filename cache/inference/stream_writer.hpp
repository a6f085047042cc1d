// Writes a plain completion as the stream that would have brought it: the other half of convert.hpp, which says in what
// order. For sources of this folder only. One thread at a time.
#pragma once

#include <cstddef>
#include <string>

#include "cache/inference/convert_json.hpp"

namespace brink::cache::inference {

class StreamWriter {
 public:
  // `max_bytes`: of the stream, which repeats the answer's head in each event.
  StreamWriter(Endpoint endpoint, bool usage, std::size_t max_bytes)
      : endpoint_(endpoint), with_usage_(usage), max_bytes_(max_bytes) {}

  bool write(const Json& answer);           // false: refused
  const char* why() const { return why_; }  // static text, once refused
  std::string& stream() { return stream_; }

 private:
  enum class Place { opening, middle, last };  // of an event among those of its choice

  bool fail(const char* why);
  bool read_head(const Json& answer);
  bool write_choice(const Json& choice);
  bool write_chat(const Json& message);
  bool open_chat(const Json& message, Json& delta);
  bool write_calls(const Json& calls);
  bool write_function(const Json& function, Json opening, Json rest);
  bool write_piece(const Json& piece, Place place, bool carries);
  bool write_event(Json choices, const Json& usage);

  Endpoint endpoint_;
  bool with_usage_;
  std::size_t max_bytes_;
  const char* why_ = nullptr;
  Json head_;                     // members of every event
  Json first_ = Json::object();   // further members of the stream's first event
  const Json* choice_ = nullptr;  // the present one
  std::string stream_;
};

}  // namespace brink::cache::inference
