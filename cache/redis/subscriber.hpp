// Listens to one channel of Redis over a connection of its own, so that one worker hears what other nodes tell.
// Redis delivers at most once: whoever hears `on_lost` has missed an unknown number of messages until `on_restored`.
//
// Belongs to the thread of its io_context; callbacks run there, never inside the constructor, and may destroy the
// subscriber. After the destructor none runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cache/redis/options.hpp"

namespace boost::asio {
class io_context;
}

namespace brink::cache::redis {

class Subscriber {
 public:
  struct Handlers {
    std::function<void(std::string&& message)> on_message;
    std::function<void(const std::string& why)> on_lost;  // only after on_restored, once for each loss
    std::function<void()> on_restored;  // the channel is heard: the first time, and again after each loss
    std::function<void(const std::string& text)> on_trouble;  // cannot connect, for the log; when the reason changes
  };
  // A dead server is noticed within twice the interval.
  struct Timing {
    std::chrono::milliseconds ping_interval{5'000};
    std::chrono::milliseconds pong_timeout{5'000};
  };

  // REQUIRES: check(options) is "". In a cluster each attempt goes to the next of options.nodes.
  // Throws std::runtime_error where the CA file cannot be read.
  Subscriber(boost::asio::io_context& context, Options options, std::string channel, Handlers handlers)
      : Subscriber(context, std::move(options), std::move(channel), std::move(handlers), Timing{}) {}
  Subscriber(boost::asio::io_context& context, Options options, std::string channel, Handlers handlers, Timing timing);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  bool connected() const;  // subscribed, and not known to be lost

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace brink::cache::redis
