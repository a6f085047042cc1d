// What every object of one thread shares: the event loop, its timers, its buffers, its randomness. One Loop a worker
// and one for the control thread. Only `context` may be used from other threads, and only to post.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>

#include "proxy/net/buffer_pool.hpp"
#include "proxy/net/random.hpp"
#include "proxy/net/timer_wheel.hpp"

namespace brink::net {

class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  BufferPool buffers;
  Random random;
  boost::asio::io_context context{1};
  TimerWheel wheel{context};
  std::string scratch;  // for building a head that is sent at once; whoever uses it clears it first

  // The Date field's value (RFC 9110 section 6.6.1), made anew once a second.
  const std::string& http_date();

 private:
  std::int64_t date_second_ = -1;
  std::string date_;
};

}  // namespace brink::net
