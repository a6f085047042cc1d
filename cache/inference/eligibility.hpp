// Which requests to a model may be answered from the exact cache, and what the rest of the proxy wants to know of them.
// A part of RequestKey; pure, any thread.
#pragma once

#include <span>
#include <string_view>

#include "cache/inference/canonical.hpp"
#include "cache/inference/request_key.hpp"

namespace brink::cache::inference {

using Members = std::span<const Canonical::Member>;

// The canonical text of a top-level member; empty: absent.
std::string_view find_member(Members members, std::string_view name);

// facts.endpoint is set. Reads the other facts. nullptr, or static text that says why there can be no key.
const char* read_facts(Members members, Facts& facts);

// nullptr: an answer may be kept; else static text that says why not.
const char* why_not_kept(Members members, const Facts& facts, When when);

}  // namespace brink::cache::inference
