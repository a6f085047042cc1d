// Commands to Redis: one server, a cluster, or the master that sentinels name. It never makes a request wait for a sick
// Redis: each command is answered within its timeout, failures stop the asking for a while (breaker.hpp), and what
// waits is bounded. Nothing throws after construction.
//
// Belongs to the thread of its io_context: constructed, used and destroyed there. A callback runs on that thread,
// exactly once unless cancelled, and never inside the call that issued the command; it may issue commands, cancel
// them, and destroy the client. After the destructor no callback runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cache/redis/options.hpp"
#include "cache/redis/result.hpp"

namespace boost::asio {
class io_context;
}

namespace brink::cache::redis {

enum class Operation : std::uint8_t { get, set, del, publish, other };

// Told on the client's thread; neither may destroy the client. Either may be empty.
struct Events {
  // A server came, went or is not asked for a while. `text` is a line for the log, `up` whether it is good news.
  // Told when it changes, not at each attempt.
  std::function<void(bool up, const std::string& text)> state;
  // Once for each command that was not cancelled, just before its callback. A get with ErrorKind::none and `nil` is a
  // miss.
  std::function<void(Operation, ErrorKind, bool nil, std::chrono::microseconds latency)> done;
};

class Client {
 public:
  using Id = std::uint64_t;  // of one command, never 0, never used twice

  // REQUIRES: check(options) is "". Starts connecting. Throws std::runtime_error where the CA file cannot be read.
  Client(boost::asio::io_context& context, Options options, Events events = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // An empty callback is allowed: the outcome is only counted.
  Id get(std::string_view key, Callback done);  // string, or nil
  // REQUIRES: ttl at least 1 ms.
  Id set(std::string_view key, std::string_view value, std::chrono::milliseconds ttl, Callback done);
  // REQUIRES: at least one key. integer: how many there were. In a cluster the keys go to their nodes one by one; the
  // first error is told.
  Id del(std::span<const std::string> keys, Callback done);
  Id publish(std::string_view channel, std::string_view message, Callback done);  // integer; any node of a cluster
  // Any command but those that change how the connection answers (SUBSCRIBE, MONITOR, BLPOP, MULTI, ...). In a cluster
  // args[key] says which node is asked; key 0: any.
  Id command(std::span<const std::string_view> args, Callback done, std::size_t key = 1);

  // The callback will not run. The command itself may have been sent. Unknown ids are fine.
  void cancel(Id id);

  // Whether a command issued now would be sent, or at least wait for a connection under way: false where it is known
  // to fail at once. In a cluster: whether that is so of any node.
  bool available() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace brink::cache::redis
