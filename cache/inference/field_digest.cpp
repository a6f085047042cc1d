#include "cache/inference/field_digest.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace brink::cache::inference {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

}  // namespace

void add_fields(Digest& digest, std::span<const Field> fields, bool (*wanted)(std::string_view name),
                std::span<const std::string_view> more) {
  std::vector<std::pair<std::string, std::string_view>> taken;
  for (const Field& field : fields) {
    std::string name = lower(field.name);
    if (wanted(name) || std::find(more.begin(), more.end(), name) != more.end())
      taken.emplace_back(std::move(name), field.value);
  }
  std::stable_sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  digest.add_part(std::to_string(taken.size()));
  for (const auto& [name, value] : taken) {
    digest.add_part(name);
    digest.add_part(value);
  }
}

}  // namespace brink::cache::inference
