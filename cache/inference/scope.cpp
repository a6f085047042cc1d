#include "cache/inference/scope.hpp"

#include <algorithm>
#include <array>

#include "cache/inference/digest.hpp"
#include "cache/inference/field_digest.hpp"

namespace brink::cache::inference {
namespace {

bool may_carry_credential(std::string_view name) {
  constexpr std::array<std::string_view, 7> names = {
      "authorization",  "proxy-authorization",       "api-key", "x-api-key",
      "x-goog-api-key", "ocp-apim-subscription-key", "cookie"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string scope_digest(std::span<const Field> fields, std::span<const std::string_view> more) {
  Digest digest;
  digest.add_part("brink scope 1");
  add_fields(digest, fields, may_carry_credential, more);
  return digest.finish();
}

}  // namespace brink::cache::inference
