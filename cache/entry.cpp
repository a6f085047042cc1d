#include "cache/entry.hpp"

#include <algorithm>

namespace brink::cache {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::size_t Entry::footprint() const {
  constexpr std::size_t bookkeeping = 256;  // hash table, queue and index nodes of a store
  std::size_t size = sizeof(Entry) + bookkeeping + key.capacity() + url.capacity() + route.capacity() +
                     model.capacity() + head.capacity() + body.capacity() + zstd.capacity() +
                     fields.capacity() * sizeof(Field) + tags.capacity() * sizeof(std::string);
  for (const std::string& tag : tags) size += tag.capacity() + bookkeeping;
  for (const auto& names : vary) {
    size += sizeof names;
    for (const std::string& name : names) size += sizeof name + name.capacity();
  }
  return size;
}

const Field* Entry::find(std::string_view name) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return same_name(field.name, name); });
  return found == fields.end() ? nullptr : &*found;
}

void Entry::index_fields() {
  fields.clear();
  std::string_view left = head;
  while (!left.empty()) {
    const std::size_t end = left.find("\r\n");
    const std::string_view line = left.substr(0, end);
    left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    fields.push_back({line.substr(0, colon), value});
  }
}

}  // namespace brink::cache
