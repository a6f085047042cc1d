// Requests for a run: from the two public traces (docs/balancing.md says where they come from), or drawn.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/sim/fleet/policy.hpp"

namespace brink::fleet {

struct Trace {
  std::vector<Request> requests;                   // in order of arrival
  std::vector<std::vector<std::uint32_t>> blocks;  // what the requests' spans point into
};

// Azure's 2023 conversation trace: CSV with TIMESTAMP,ContextTokens,GeneratedTokens. Throws std::runtime_error with
// file and line on anything else.
Trace read_azure(const std::filesystem::path& file);
// Mooncake's trace: one JSON object a line with timestamp (ms), input_length, output_length and hash_ids.
Trace read_mooncake(const std::filesystem::path& file);

// The same requests, faster or slower, so that `per_second` arrive on average. Bursts stay bursts.
void rescale(Trace& trace, double per_second);
// Requests of `like` drawn with replacement, arriving as a Poisson process for `seconds`.
Trace poisson(const Trace& like, double per_second, double seconds, std::uint64_t seed);
// Log-normal prompts (mean about 1,150 tokens) and answers (about 210): for machines without the traces.
Trace synthetic(std::size_t count, std::uint64_t seed);

}  // namespace brink::fleet
