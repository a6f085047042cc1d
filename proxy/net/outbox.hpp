// What still has to go out on a socket. A message's head, a piece of body and a tail leave in one gathered write; what
// the kernel does not take stays here until the socket is writable again. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/socket.hpp"

namespace brink::net {

class Outbox {
 public:
  enum class Result : std::uint8_t { done, pending, failed };

  // REQUIRES: empty(). `head` is copied if it does not all go; `body` and `tail` must stand until done.
  Result send(Socket& socket, std::string_view head, std::string_view body, std::string_view tail);
  // Goes on after the socket became writable.
  Result resume(Socket& socket);
  bool empty() const { return head_.empty() && body_.empty() && tail_.empty(); }
  void clear();

 private:
  Result flush(Socket& socket);
  std::string kept_;  // owns what head_ points at once a write stayed incomplete
  std::string_view head_;
  std::string_view body_;
  std::string_view tail_;
};

}  // namespace brink::net
