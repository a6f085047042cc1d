#include "cache/memory/node.hpp"

namespace brink::cache {

std::string_view Membership::text() const {
  switch (kind) {
    case Purge::Kind::url:
      return node->entry->url;
    case Purge::Kind::route:
      return node->entry->route;
    case Purge::Kind::model:
      return node->entry->model;
    case Purge::Kind::tag:
      return node->entry->tags[tag];
    case Purge::Kind::all:
      break;
  }
  return {};
}

Node::Node(EntryPtr stored, std::uint64_t key_hash)
    : hash(key_hash), entry(std::move(stored)), useful_until(entry->useful_until), size(entry->footprint()) {
  const auto count = [](const std::string& text) -> std::size_t { return text.empty() ? 0 : 1; };
  std::size_t needed = count(entry->url) + count(entry->route) + count(entry->model);
  for (const std::string& tag : entry->tags) needed += count(tag);
  memberships_ = std::make_unique<Membership[]>(needed);
  const auto add = [this](Purge::Kind kind, const std::string& text, std::size_t tag) {
    if (text.empty()) return;
    Membership& added = memberships_[membership_count_++];
    added.node = this;
    added.kind = kind;
    added.tag = static_cast<std::uint32_t>(tag);
  };
  add(Purge::Kind::url, entry->url, 0);
  add(Purge::Kind::route, entry->route, 0);
  add(Purge::Kind::model, entry->model, 0);
  for (std::size_t i = 0; i < entry->tags.size(); ++i) add(Purge::Kind::tag, entry->tags[i], i);
}

}  // namespace brink::cache
