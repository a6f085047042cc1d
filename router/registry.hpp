// Where the live state of endpoints is found by name, so that it survives reloads and is shared by clusters that name
// the same endpoint. Any thread may call; meant for start-up and reload, it locks.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "router/endpoint_state.hpp"

namespace brink::router {

class EndpointRegistry {
 public:
  // The state in use under this name (conf::EndpointConfig::name()), or a new one. It lives as long as somebody holds
  // it: take the new configuration's states before the old one is let go.
  std::shared_ptr<EndpointState> acquire(const std::string& name);
  std::size_t size() const;  // states in use

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<EndpointState>> states_;
};

}  // namespace brink::router
