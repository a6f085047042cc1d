// Calls an object on its own thread from any other. However often it is woken before it runs, it runs once. What
// followers of a flight and its leader wake each other with. The object lives on one loop's thread and detaches there;
// afterwards it is not called any more, whatever was already posted.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

namespace brink::cache {

class Waker : public boost::intrusive_ref_counter<Waker, boost::thread_safe_counter> {
 public:
  using Call = void (*)(void* target);
  // Own thread. `context` outlives every wake().
  Waker(boost::asio::io_context& context, Call call, void* target) : context_(context), call_(call), target_(target) {}

  void wake();                          // any thread; never calls from inside
  void detach() { target_ = nullptr; }  // own thread

 private:
  boost::asio::io_context& context_;
  Call call_;
  void* target_;
  std::atomic<bool> posted_{false};
};

using WakerPtr = boost::intrusive_ptr<Waker>;

}  // namespace brink::cache
