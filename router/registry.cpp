#include "router/registry.hpp"

#include <algorithm>

namespace brink::router {

std::shared_ptr<EndpointState> EndpointRegistry::acquire(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = states_.find(name); found != states_.end())
    if (auto state = found->second.lock()) return state;
  // Names that are gone leave with the next new one: the table is bounded by what is in use plus one reload's worth.
  std::erase_if(states_, [](const auto& entry) { return entry.second.expired(); });
  auto state = std::make_shared<EndpointState>(name);
  states_.insert_or_assign(name, state);
  return state;
}

std::size_t EndpointRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(states_.begin(), states_.end(), [](const auto& entry) { return !entry.second.expired(); }));
}

}  // namespace brink::router
