// Adds request fields to a digest: which of several requests have the same fields, in whatever order they were sent.
#pragma once

#include <span>
#include <string_view>

#include "cache/entry.hpp"
#include "cache/inference/digest.hpp"

namespace brink::cache::inference {

// Adds those fields that `wanted` takes by their name in lower case, sorted by name, the values of one name in the
// order sent, after their number.
void add_fields(Digest& digest, std::span<const Field> fields, bool (*wanted)(std::string_view name),
                std::span<const std::string_view> more);

}  // namespace brink::cache::inference
