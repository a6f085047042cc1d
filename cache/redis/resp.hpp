// Commands to bytes and bytes to replies, by hiredis's formatter and reader. No I/O; used from one thread at a time.
// Whatever the bytes, the reader ends with replies or an error, within bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/redis/result.hpp"

struct redisReader;

namespace brink::cache::redis {

// A command ready to be sent, shared so that it can be sent again elsewhere without a copy of a large value.
class Wire {
 public:
  Wire() = default;
  // REQUIRES: `args` hold less than 2 GiB, and at least one.
  explicit Wire(std::span<const std::string_view> args);
  Wire followed_by(const Wire& other) const;  // both in one
  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }

 private:
  std::shared_ptr<const char> data_;
  std::size_t size_ = 0;
};

class ReplyReader {
 public:
  explicit ReplyReader(std::size_t max_bytes);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);
  // The next complete reply. Nothing: more bytes are needed, or failed().
  std::optional<Reply> next();

  bool failed() const { return !error_.empty(); }  // for good: the rest of the stream has no meaning
  const std::string& error() const { return error_; }

 private:
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  const std::size_t max_bytes_;
  std::size_t fed_ = 0;       // since the last complete reply
  std::size_t elements_ = 0;  // of the reply under way, in all its arrays
  std::string error_;
};

}  // namespace brink::cache::redis
