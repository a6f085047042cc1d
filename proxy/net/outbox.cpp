#include "proxy/net/outbox.hpp"

#include <algorithm>
#include <array>

namespace brink::net {

namespace asio = boost::asio;

Outbox::Result Outbox::send(Socket& socket, std::string_view head, std::string_view body, std::string_view tail) {
  head_ = head;
  body_ = body;
  tail_ = tail;
  const Result result = flush(socket);
  if (result == Result::pending && !head_.empty()) {
    kept_.assign(head_);
    head_ = kept_;
  }
  return result;
}

Outbox::Result Outbox::resume(Socket& socket) { return flush(socket); }

void Outbox::clear() { head_ = body_ = tail_ = {}; }

Outbox::Result Outbox::flush(Socket& socket) {
  while (!empty()) {
    std::array<asio::const_buffer, 3> parts;
    std::size_t count = 0;
    for (const std::string_view part : {head_, body_, tail_}) {
      if (!part.empty()) parts[count++] = asio::buffer(part);
    }
    const IoResult result = socket.write({parts.data(), count});
    if (result.status == IoResult::Status::again) return Result::pending;
    if (result.status != IoResult::Status::ok) return Result::failed;
    std::size_t left = result.size;
    for (std::string_view* part : {&head_, &body_, &tail_}) {
      const std::size_t taken = std::min(left, part->size());
      part->remove_prefix(taken);
      left -= taken;
    }
  }
  return Result::done;
}

}  // namespace brink::net
