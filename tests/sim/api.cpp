#include "tests/sim/api.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/text.hpp"

namespace brink::sim {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t max_dimensions = 4096;
constexpr std::uint32_t default_dimensions = 256;
constexpr std::size_t max_inputs = 2048;  // OpenAI's own limit for one embeddings request

// Text in errors may come from anywhere; what is no UTF-8 is replaced rather than thrown at.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

[[noreturn]] void refuse(std::string param, std::string message) {
  throw ApiError{.status = 400, .message = std::move(message), .param = std::move(param)};
}

const Json* member(const Json& json, const char* name) {
  const auto it = json.find(name);
  return it == json.end() || it->is_null() ? nullptr : &*it;
}

bool flag(const Json& json, const char* name) {
  const Json* value = member(json, name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) refuse(name, std::string(name) + " must be true or false");
  return value->get<bool>();
}

// A whole number from 1 to `most`; 0 when absent.
std::uint32_t count(const Json& json, const char* name, std::uint32_t most) {
  const Json* value = member(json, name);
  if (value == nullptr) return 0;
  const bool fits = value->is_number_integer() && (value->is_number_unsigned() || value->get<std::int64_t>() >= 0);
  if (!fits || value->get<std::uint64_t>() < 1 || value->get<std::uint64_t>() > most) {
    refuse(name, std::string(name) + " must be a whole number from 1 to " + std::to_string(most));
  }
  return value->get<std::uint32_t>();
}

std::string chat_text(const Json& body) {
  const Json* messages = member(body, "messages");
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    refuse("messages", "messages must be an array with at least one message");
  }
  std::string text;
  for (const Json& message : *messages) {
    const Json* role = message.is_object() ? member(message, "role") : nullptr;
    if (role == nullptr || !role->is_string()) refuse("messages", "each message must be an object with a role");
    text.append(role->get_ref<const std::string&>()).append(": ");
    const Json* content = member(message, "content");
    if (content != nullptr && content->is_string()) {
      text += content->get_ref<const std::string&>();
    } else if (content != nullptr) {
      text += dump(*content);  // parts: images and the like count by their size
    }
    text += '\n';
  }
  return text;
}

bool is_token_list(const Json& json) {
  return json.is_array() && !json.empty() &&
         std::ranges::all_of(json, [](const Json& item) { return item.is_number_unsigned(); });
}

// A token id stands for as many bytes as any token, so that counts agree.
std::string token_list_text(const Json& list) {
  std::string text;
  for (const Json& token : list) {
    const auto value = token.get<std::uint32_t>();
    for (std::size_t byte = 0; byte < token_bytes; ++byte) text += static_cast<char>(value >> (8 * byte));
  }
  return text;
}

// A string, a list of token ids, or an array of either.
std::vector<std::string> text_inputs(const Json& body, const char* name) {
  const Json* input = member(body, name);
  if (input == nullptr) refuse(name, std::string(name) + " is missing");
  if (is_token_list(*input)) return {token_list_text(*input)};
  const Json list = input->is_array() ? *input : Json::array({*input});
  if (list.empty() || list.size() > max_inputs) refuse(name, std::string(name) + " must have 1 to 2048 items");
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else if (is_token_list(item)) {
      texts.push_back(token_list_text(item));
    } else {
      refuse(name, std::string(name) + " must be a string, a list of token ids or an array of these");
    }
  }
  return texts;
}

std::string prompt_text(Api api, const Json& body) {
  if (api == Api::chat) return chat_text(body);
  std::vector<std::string> prompts = text_inputs(body, "prompt");
  if (prompts.size() > 1) refuse("prompt", "one prompt a request is served");
  return std::move(prompts.front());
}

void parse_output(const Json& body, const ApiLimits& limits, Generation& generation) {
  if (count(body, "n", 128) > 1) refuse("n", "n above 1 is not served");
  std::uint32_t most = count(body, "max_completion_tokens", limits.context_tokens);
  if (most == 0) most = count(body, "max_tokens", limits.context_tokens);
  generation.cut_by_limit = most > 0;
  generation.output_tokens = most > 0 ? most : natural_length(generation.answer);
  generation.stream = flag(body, "stream");
  if (const Json* options = member(body, "stream_options")) {
    if (!options->is_object()) refuse("stream_options", "stream_options must be an object");
    if (!generation.stream) refuse("stream_options", "stream_options needs stream: true");
    generation.include_usage = flag(*options, "include_usage");
  }
}

void parse_embeddings(const Json& body, Generation& generation) {
  generation.inputs = text_inputs(body, "input");
  generation.dimensions = count(body, "dimensions", max_dimensions);
  if (generation.dimensions == 0) generation.dimensions = default_dimensions;
  const Json* format = member(body, "encoding_format");
  if (format != nullptr && *format != "float" && *format != "base64") {
    refuse("encoding_format", "encoding_format must be float or base64");
  }
  generation.base64 = format != nullptr && *format == "base64";
  for (const std::string& input : generation.inputs) generation.prompt.tokens += count_tokens(input);
}

}  // namespace

Generation parse_generation(Api api, std::string_view text, const ApiLimits& limits) {
  const Json body = Json::parse(text, nullptr, false);
  if (!body.is_object()) refuse("", "the body must be a JSON object");
  const Json* model = member(body, "model");
  if (model == nullptr || !model->is_string()) refuse("model", "model must be a string");
  Generation generation{.api = api, .model = model->get<std::string>()};
  if (std::ranges::find(limits.models, generation.model) == limits.models.end()) {
    throw ApiError{.status = 404,
                   .message = "The model `" + generation.model + "` does not exist.",
                   .type = "not_found_error",
                   .code = "model_not_found",
                   .param = "model"};
  }
  generation.answer = limits.seed;
  if (api == Api::embeddings) {
    parse_embeddings(body, generation);
    return generation;
  }
  const std::string prompt = prompt_text(api, body);
  const std::uint64_t start = hash_text(generation.model, limits.seed);
  generation.prompt = {.tokens = count_tokens(prompt), .blocks = block_chain(prompt, start)};
  generation.answer = hash_text(prompt, start);
  parse_output(body, limits, generation);
  return generation;
}

std::string error_json(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return dump({{"error",
                {{"message", error.message},
                 {"type", error.type},
                 {"param", or_null(error.param)},
                 {"code", or_null(error.code)}}}});
}

namespace {
Json model_object(std::string_view model) {
  return {{"id", model}, {"object", "model"}, {"created", 0}, {"owned_by", "gpu-sim"}};
}
}  // namespace

std::string models_json(std::span<const std::string> models) {
  Json list = Json::array();
  for (const std::string& model : models) list.push_back(model_object(model));
  return dump({{"object", "list"}, {"data", list}});
}

std::string model_json(std::string_view model) { return dump(model_object(model)); }

}  // namespace brink::sim
