// The answers' side of api.hpp. Events are put together from text: a tree for each of some 10,000 tokens a second would
// cost more than all the rest of the simulator.
#include <nlohmann/json.hpp>

#include "tests/sim/api.hpp"
#include "tests/sim/text.hpp"

namespace brink::sim {
namespace {

using Json = nlohmann::json;

Json usage_json(const Generation& generation, std::uint32_t cached_tokens) {
  Json usage = {{"prompt_tokens", generation.prompt.tokens}, {"total_tokens", generation.prompt.tokens}};
  if (generation.api == Api::embeddings) return usage;
  usage["completion_tokens"] = generation.output_tokens;
  usage["total_tokens"] = generation.prompt.tokens + generation.output_tokens;
  usage["prompt_tokens_details"] = {{"cached_tokens", cached_tokens}};
  return usage;
}

const char* finish_reason(const Generation& generation) { return generation.cut_by_limit ? "length" : "stop"; }

}  // namespace

Renderer::Renderer(const Generation& generation, std::string id, std::int64_t created)
    : generation_(generation), id_(std::move(id)), created_(created) {
  const char* object = generation.api == Api::chat ? "chat.completion.chunk" : "text_completion";
  event_head_ = R"(data: {"id":")" + id_ + R"(","object":")" + object + R"(","created":)" + std::to_string(created_) +
                R"(,"model":)" + Json(generation.model).dump() + R"(,"choices":[)";
}

std::string Renderer::plain(std::uint32_t cached_tokens) const {
  if (generation_.api == Api::embeddings) return embeddings();
  std::string text;
  for (std::uint32_t i = 0; i < generation_.output_tokens; ++i) text += answer_word(generation_.answer, i);
  Json choice = {{"index", 0}, {"logprobs", nullptr}, {"finish_reason", finish_reason(generation_)}};
  if (generation_.api == Api::chat) {
    choice["message"] = {{"role", "assistant"}, {"content", std::move(text)}, {"refusal", nullptr}};
  } else {
    choice["text"] = std::move(text);
  }
  const Json answer = {{"id", id_},
                       {"object", generation_.api == Api::chat ? "chat.completion" : "text_completion"},
                       {"created", created_},
                       {"model", generation_.model},
                       {"choices", Json::array({std::move(choice)})},
                       {"usage", usage_json(generation_, cached_tokens)}};
  return answer.dump();
}

std::string Renderer::embeddings() const {
  Json data = Json::array();
  for (const std::string& input : generation_.inputs) {
    const std::vector<float> vector = embedding(input, generation_.dimensions, generation_.answer);
    data.push_back({{"object", "embedding"}, {"index", data.size()}});
    data.back()["embedding"] = generation_.base64 ? Json(base64_floats(vector)) : Json(vector);
  }
  const Json answer = {{"object", "list"},
                       {"data", std::move(data)},
                       {"model", generation_.model},
                       {"usage", usage_json(generation_, 0)}};
  return answer.dump();
}

std::string Renderer::event(std::string_view choice) const {
  std::string text = event_head_;
  text.append(choice).append(generation_.include_usage ? R"(],"usage":null})" : "]}").append("\n\n");
  return text;
}

std::string Renderer::opening() const {
  if (generation_.api != Api::chat) return {};
  return event(R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null})");
}

std::string Renderer::token(std::uint32_t index) const {
  const std::string_view word = answer_word(generation_.answer, index);  // letters and a space: nothing to escape
  std::string choice(generation_.api == Api::chat ? R"({"index":0,"delta":{"content":")" : R"({"index":0,"text":")");
  choice.append(word).append(generation_.api == Api::chat ? R"("},)" : R"(",)");
  return event(choice.append(R"("logprobs":null,"finish_reason":null})"));
}

std::string Renderer::closing() const {
  std::string choice(generation_.api == Api::chat ? R"({"index":0,"delta":{},)" : R"({"index":0,"text":"",)");
  choice.append(R"("logprobs":null,"finish_reason":")").append(finish_reason(generation_)).append(R"("})");
  return event(choice);
}

std::string Renderer::usage(std::uint32_t cached_tokens) const {
  return event_head_ + R"(],"usage":)" + usage_json(generation_, cached_tokens).dump() + "}\n\n";
}

}  // namespace brink::sim
