// Joins the events of a completion stream to the plain answer: one half of convert.hpp, which says what is joined how.
// For sources of this folder only. One thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "cache/inference/convert_json.hpp"

namespace brink::cache::inference {

class StreamJoiner {
 public:
  explicit StreamJoiner(Endpoint endpoint) : endpoint_(endpoint) {}

  bool add(std::string_view data);  // one event; false: refused
  // The plain answer, once all events are added. False: refused. Without `needs_usage` the usage may be missing.
  bool finish(bool needs_usage, Json& answer);
  const char* why() const { return why_; }  // static text, once refused

 private:
  // How the values of one member in several events come together.
  enum class Join {
    text,  // pieces of one text
    list,  // pieces of one list
    same,  // the same value each time
    word,  // the same text each time, or empty
    once,
  };

  bool fail(const char* why);
  bool add_member(const std::string& name, const Json& value);
  bool add_usage(const Json& value);
  bool add_choice(const Json& piece);
  bool add_delta(Json& message, const Json& delta);
  bool add_calls(Json& message, const Json& pieces);
  bool add_call(Json& call, const Json& piece);
  bool add_function(Json& owner, const std::string& name, const Json& piece);
  bool add_logprobs(Json& choice, const Json& piece);
  bool join(Json& object, const std::string& name, const Json& value, Join how);
  bool finish_choice(Json& choice);
  bool finish_message(Json& message);

  Endpoint endpoint_;
  const char* why_ = nullptr;
  std::size_t events_ = 0;
  Json head_ = Json::object();                  // members of the events, joined
  std::map<std::string, std::size_t> unknown_;  // of them: in how many events each has a value
  Json usage_;
  std::size_t usage_event_ = 0;  // which event told it, from 1
  std::map<std::size_t, Json> choices_;
};

}  // namespace brink::cache::inference
