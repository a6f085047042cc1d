#include "cache/memory/purge_index.hpp"

#include <xxhash.h>

#include <utility>

namespace brink::cache {

std::uint64_t PurgeIndex::hash(Purge::Kind kind, std::string_view text) const {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed_ + static_cast<std::uint64_t>(kind));
}

Group* PurgeIndex::find(Purge::Kind kind, std::string_view text) const {
  return groups_.find(hash(kind, text),
                      [&](const Group& group) { return group.kind == kind && group.members.front().text() == text; });
}

void PurgeIndex::link(Node& node) {
  for (Membership& membership : node.memberships()) {
    Group* group = find(membership.kind, membership.text());
    if (group == nullptr) {
      group = new Group;
      group->hash = hash(membership.kind, membership.text());
      group->kind = membership.kind;
      groups_.insert(*group);
    } else if (group->members.back().node == &node) {
      continue;
    }
    membership.group = group;
    group->members.push_back(membership);
  }
}

void PurgeIndex::unlink(Node& node) {
  for (Membership& membership : node.memberships()) {
    Group* group = std::exchange(membership.group, nullptr);
    if (group == nullptr) continue;
    group->members.erase(group->members.iterator_to(membership));
    if (!group->members.empty()) continue;
    groups_.erase(*group);
    delete group;
  }
}

}  // namespace brink::cache
