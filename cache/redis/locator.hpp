// Which server to connect to now: a fixed one, the next of several, or the master that sentinels name. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cache/redis/options.hpp"
#include "cache/redis/stream.hpp"

namespace brink::cache::redis {

class Locator {
 public:
  // Nothing: nobody knows, and why. May be called from within find().
  using Found = std::function<void(std::optional<Node>, const std::string& why)>;

  static std::unique_ptr<Locator> fixed(Node node);
  static std::unique_ptr<Locator> rotating(std::vector<Node> nodes);
  // Asks the sentinels one after the other (https://redis.io/docs/reference/sentinel-clients/). Each has
  // options.connect_timeout. Asked at each new connection only: a master that is replaced while it is well is used
  // until the sentinels turn it into a replica, about 10 s later.
  static std::unique_ptr<Locator> sentinel(boost::asio::io_context& context, const Options& options, TlsContext tls);

  virtual ~Locator() = default;        // a search under way ends without an answer
  virtual void find(Found found) = 0;  // REQUIRES: no search under way
};

}  // namespace brink::cache::redis
