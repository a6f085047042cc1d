// Listens on a Unix socket or a loopback address and makes connections of what comes, up to a number at once. On the
// I/O thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "proxy/model/http_connection.hpp"

namespace brink::model {

class HttpListener {
 public:
  static constexpr std::size_t max_connections = 256;

  // `address` is unix:PATH, or HOST:PORT of a loopback address: there is no authentication here. Binds at once; a Unix
  // socket that nobody listens on any more is replaced, and is open to this user only. Throws std::runtime_error.
  HttpListener(boost::asio::io_context& context, const std::string& address, HttpConnection::Handler handler);
  ~HttpListener();  // a Unix socket goes with its listener
  HttpListener(const HttpListener&) = delete;

  const std::string& address() const;    // with the port the system chose
  const std::string& unix_path() const;  // empty for TCP

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace brink::model
