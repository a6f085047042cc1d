#include "cache/inference/eligibility.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "cache/inference/json_reader.hpp"
#include "cache/inference/json_text.hpp"

namespace brink::cache::inference {
namespace {

bool is_unset(std::string_view value) { return value.empty() || value == "null"; }
bool is_off(std::string_view value) { return is_unset(value) || value == "false"; }

// A canonical number that is an integer of 64 bits: digits, and a power of ten.
std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  unsigned power = 0;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (at != end) {
    if (*at != 'e' || std::from_chars(at + 1, end, power).ptr != end || power > 18) return std::nullopt;
  }
  for (; power != 0; --power) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return value;
}

std::optional<double> to_double(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}

// False: stream_options asks for something that changes more than the usage and the padding.
bool read_stream_options(std::string_view value, Facts& facts) {
  if (is_unset(value)) return true;
  if (!value.starts_with('{')) return false;
  bool known = true;
  JsonReader reader(value);
  reader.enter_object();
  while (reader.next_member()) {
    const bool is_usage = reader.name() == "include_usage";
    const bool is_padding = reader.name() == "include_obfuscation";
    std::string_view option;
    reader.skip(option);
    if (is_usage) facts.include_usage = option == "true";
    known = known && (is_off(option) || ((is_usage || is_padding) && option == "true"));
  }
  return known;
}

// Tools that the client runs itself. All others run in the backend and look things up.
bool only_client_tools(std::string_view tools) {
  if (is_unset(tools)) return true;
  if (!tools.starts_with('[')) return false;
  JsonReader reader(tools);
  reader.enter_array();
  while (reader.next_element()) {
    if (reader.peek() != JsonReader::Kind::object) return false;
    reader.enter_object();
    while (reader.next_member()) {
      const bool is_type = reader.name() == "type";
      std::string_view value;
      reader.skip(value);
      if (is_type && value != "\"function\"" && value != "\"custom\"") return false;
    }
  }
  return true;
}

bool searches(std::string_view model) {
  return model.find("search-preview") != std::string_view::npos || model.find("search-api") != std::string_view::npos;
}

bool is_repeatable(const Facts& facts) {
  if (facts.endpoint == Endpoint::embeddings || facts.endpoint == Endpoint::rerank ||
      facts.endpoint == Endpoint::moderations)
    return true;
  if (facts.temperature == 0.0) return true;
  // Some engines take a negative seed as "draw one"; the Responses API has no seed.
  return facts.endpoint != Endpoint::responses && facts.seed.has_value() && *facts.seed >= 0;
}

}  // namespace

std::string_view find_member(Members members, std::string_view name) {
  const auto found = std::lower_bound(members.begin(), members.end(), name,
                                      [](const auto& member, auto n) { return member.name < n; });
  return found != members.end() && found->name == name ? found->value : std::string_view{};
}

const char* read_facts(Members members, Facts& facts) {
  const std::string_view stream = find_member(members, "stream");
  if (!is_off(stream) && stream != "true") return "stream is no boolean";
  facts.stream = stream == "true";
  const bool known = read_stream_options(find_member(members, "stream_options"), facts);
  facts.convertible = known && has_two_forms(facts.endpoint);
  const std::string_view model = find_member(members, "model");
  if (model.starts_with('"')) facts.model = unescape(model.data() + 1, model.data() + model.size() - 1);
  facts.temperature = to_double(find_member(members, "temperature"));
  facts.seed = to_integer(find_member(members, "seed"));
  const std::string_view n = find_member(members, "n");
  if (is_unset(n)) return nullptr;
  const std::optional<std::int64_t> choices = to_integer(n);
  if (!choices || *choices < 1 || *choices > std::numeric_limits<std::uint32_t>::max())
    return "n is no number of choices";
  facts.choices = static_cast<std::uint32_t>(*choices);
  return nullptr;
}

const char* why_not_kept(Members members, const Facts& facts, When when) {
  const auto value = [&](std::string_view name) { return find_member(members, name); };
  if (facts.endpoint == Endpoint::responses) {
    if (value("store") != "false") return "the backend stores the response";
    if (!is_unset(value("prompt"))) return "a prompt stored in the backend may change";
  }
  if (!is_off(value("store"))) return "the backend stores the answer";
  if (!is_off(value("background"))) return "the answer is made in the background";
  if (!is_unset(value("previous_response_id")) || !is_unset(value("conversation")))
    return "the answer depends on a conversation that the backend keeps";
  if (!is_unset(value("audio")) || value("modalities").find("\"audio\"") != std::string_view::npos)
    return "the answer is audio";
  if (!is_off(value("web_search_options")) || !is_off(value("search_parameters")) || !is_off(value("enable_search")) ||
      !is_off(value("plugins")) || searches(facts.model))
    return "the answer comes from a search";
  if (!only_client_tools(value("tools"))) return "a tool runs in the backend";
  if (!is_unset(value("kv_transfer_params"))) return "the answer is one step of a divided inference";
  if (when == When::repeatable && !is_repeatable(facts))
    return "the answer is not repeatable: no temperature 0, no seed";
  return nullptr;
}

}  // namespace brink::cache::inference
