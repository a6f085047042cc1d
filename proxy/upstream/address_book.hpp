// The addresses an endpoint's name resolves to at present. Written by the resolver's thread, read by workers when they
// open a connection (never on the way of a request that finds a kept one).
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <mutex>
#include <string>
#include <vector>

namespace brink::upstream {

using Address = boost::asio::generic::stream_protocol::endpoint;

class AddressBook {
 public:
  struct Answer {
    std::vector<Address> addresses;
    std::string error;  // why there is none
  };
  Answer get() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  void set(Answer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }

 private:
  mutable std::mutex mutex_;
  Answer answer_{{}, "the name is not resolved yet"};
};

}  // namespace brink::upstream
