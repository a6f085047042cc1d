#include "cache/flight/waker.hpp"

#include <boost/asio/post.hpp>

namespace brink::cache {

void Waker::wake() {
  if (posted_.exchange(true)) return;
  boost::asio::post(context_, [self = WakerPtr(this)] {
    self->posted_ = false;
    if (self->target_ != nullptr) self->call_(self->target_);
  });
}

}  // namespace brink::cache
