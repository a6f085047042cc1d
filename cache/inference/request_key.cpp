#include "cache/inference/request_key.hpp"

#include <algorithm>
#include <array>

#include "cache/inference/canonical.hpp"
#include "cache/inference/digest.hpp"
#include "cache/inference/eligibility.hpp"
#include "cache/inference/field_digest.hpp"

namespace brink::cache::inference {
namespace {

bool changes_answer(std::string_view name) {
  return name.starts_with("openai-") || name == "anthropic-version" || name == "anthropic-beta" ||
         name == "accept-language";
}

// The list in the header says why.
bool is_left_out(std::string_view name, const Facts& facts) {
  if (name == "stream" || name == "stream_options") return facts.convertible;
  if (name == "store") return facts.endpoint == Endpoint::chat;
  return name == "prompt_cache_key" || name == "prompt_cache_retention" || name == "prompt_cache_options";
}

}  // namespace

struct RequestKey::State {
  Canonical canonical;
  Digest digest;
};

RequestKey::RequestKey() : state_(std::make_unique<State>()) {}
RequestKey::~RequestKey() = default;

Keyed RequestKey::make(const Request& request, When when) {
  Keyed keyed;
  Facts& facts = keyed.facts;
  facts.endpoint = endpoint_of(request.method, request.path);
  if (facts.endpoint == Endpoint::other) {
    keyed.refused = "the endpoint is not known to the cache";
    return keyed;
  }
  keyed.refused = state_->canonical.read(request.body);
  const Members members = state_->canonical.members();
  if (keyed.refused == nullptr) keyed.refused = read_facts(members, facts);
  if (keyed.refused == nullptr) keyed.refused = why_not_kept(members, facts, when);
  if (keyed.refused != nullptr) return keyed;

  Digest& digest = state_->digest;
  digest.start();
  digest.add_part("brink inference 1");
  for (const std::string_view part : {request.method, request.path, request.query, request.route, request.scope})
    digest.add_part(part);
  add_fields(digest, request.fields, changes_answer, request.more_fields);
  for (const Canonical::Member& member : members) {
    if (is_left_out(member.name, facts)) continue;
    digest.add_part(member.name);
    digest.add_part(member.value);
  }
  keyed.key = digest.finish();
  return keyed;
}

}  // namespace brink::cache::inference
