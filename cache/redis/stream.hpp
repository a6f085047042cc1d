// Bytes to and from one Redis server over TCP, TLS or a Unix socket, so that all else is written once. One thread.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cache/redis/options.hpp"

namespace boost::asio::ssl {
class context;
}

namespace brink::cache::redis {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;
// Null without TLS. Throws std::runtime_error where the CA file cannot be read.
TlsContext make_tls_context(const Options& options);

class Stream {
 public:
  using Done = std::function<void(const boost::system::error_code&, std::size_t)>;

  // A stream for one connection to `node`; `tls` is null for none. `insecure`: whoever answers is believed.
  static std::unique_ptr<Stream> make(boost::asio::io_context& context, const Node& node, const TlsContext& tls,
                                      bool insecure);
  virtual ~Stream() = default;

  // Address, connection, TLS. `attempt` counts up, so that each begins with another address of the name. `done` runs
  // later, with 0; after close() too, with an error. It keeps what it needs alive, this stream included.
  virtual void connect(unsigned attempt, Done done) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, Done done) = 0;
  virtual void write(boost::asio::const_buffer bytes, Done done) = 0;  // all of it
  virtual void close() = 0;
};

}  // namespace brink::cache::redis
