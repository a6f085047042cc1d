#include "proxy/model/request.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "proxy/model/api_error.hpp"
#include "proxy/model/fields.hpp"
#include "proxy/model/schema_grammar.hpp"

namespace brink::model {

namespace {

using Json = Fields::Json;

// What names, groups or bills a request and leaves its answer as it is.
void ignore_labels(Fields& fields) {
  fields.ignore({"model", "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "parallel_tool_calls"});
}

std::vector<std::string> read_stops(Fields& fields) {
  const Json* value = fields.take("stop");
  if (!value) return {};
  const Json list = value->is_array() ? *value : Json::array({*value});
  if (list.size() > max_stops) {
    throw ApiError("'stop' holds at most " + std::to_string(max_stops) + " strings", "stop", "invalid_value");
  }
  std::vector<std::string> stops;
  for (const Json& stop : list) {
    const bool fits = stop.is_string() && !stop.get_ref<const std::string&>().empty() &&
                      stop.get_ref<const std::string&>().size() <= max_stop_bytes;
    if (!fits) {
      throw ApiError("'stop' must be a string of 1 to " + std::to_string(max_stop_bytes) + " bytes, or a list of them",
                     "stop", "invalid_value");
    }
    stops.push_back(stop);
  }
  return stops;
}

std::string read_response_format(Fields& fields) {
  std::optional<Fields> format = fields.object("response_format");
  if (!format) return {};
  const std::string type = format->text("type").value_or("");
  std::string grammar;
  if (type == "json_object") {
    grammar = json_object_grammar();
  } else if (type == "json_schema") {
    std::optional<Fields> outer = format->object("json_schema");
    if (!outer)
      throw ApiError("'response_format.json_schema' is missing", "response_format", "missing_required_parameter");
    outer->ignore({"name", "description", "strict"});
    grammar = schema_grammar(outer->require("schema"), outer->param("schema"));
    outer->end();
  } else if (type != "text") {
    throw ApiError("'response_format.type' must be text, json_object or json_schema", "response_format.type",
                   "invalid_value");
  }
  format->end();
  return grammar;
}

// How deep the brackets of a GBNF grammar are nested. llama.cpp reads them by recursion without a limit.
int depth_of(std::string_view grammar) {
  int depth = 0, deepest = 0;
  for (std::size_t i = 0; i < grammar.size(); ++i) {
    const char c = grammar[i];
    if (c == '"' || c == '[' || c == '#') {
      const char end = c == '[' ? ']' : c == '#' ? '\n' : '"';
      while (++i < grammar.size() && grammar[i] != end) i += grammar[i] == '\\' && c != '#' ? 1 : 0;
    }
    if (c == '(') deepest = std::max(deepest, ++depth);
    if (c == ')') --depth;
  }
  return deepest;
}

void read_grammar(Fields& fields, Sampling& sampling) {
  sampling.grammar = read_response_format(fields);
  const std::optional<std::string> given = fields.text("grammar");
  if (!given) return;
  if (!sampling.grammar.empty()) {
    throw ApiError("'grammar' and 'response_format' exclude each other", "grammar", "invalid_value");
  }
  if (given->empty() || given->size() > max_grammar_bytes || given->find('\0') != given->npos) {
    throw ApiError("'grammar' must hold 1 to " + std::to_string(max_grammar_bytes) + " bytes and no zero byte",
                   "grammar", "invalid_value");
  }
  if (depth_of(*given) > max_grammar_depth) {
    throw ApiError("'grammar' has more than " + std::to_string(max_grammar_depth) + " brackets in each other",
                   "grammar", "invalid_value");
  }
  sampling.grammar = *given;
}

// A negative seed is as good as any other: it counts by its low 32 bits. The engine keeps the largest for "random".
std::uint32_t read_seed(Fields& fields) {
  constexpr auto limits = std::numeric_limits<std::int64_t>();
  const auto seed = fields.integer("seed", limits.min(), limits.max());
  const std::uint32_t value = seed ? static_cast<std::uint32_t>(*seed) : std::random_device()();
  return value == std::numeric_limits<std::uint32_t>::max() ? value - 1 : value;
}

void read_sampling(Fields& fields, Sampling& sampling) {
  const auto set = [&](float& to, const char* name, double least, double most) {
    if (const auto value = fields.number(name, least, most)) to = static_cast<float>(*value);
  };
  set(sampling.temperature, "temperature", 0, 2);
  set(sampling.top_p, "top_p", 0, 1);
  set(sampling.min_p, "min_p", 0, 1);
  set(sampling.presence_penalty, "presence_penalty", -2, 2);
  set(sampling.frequency_penalty, "frequency_penalty", -2, 2);
  set(sampling.repetition_penalty, "repetition_penalty", 0.01, 2);
  // Both -1 and 0 are in use for "all".
  if (const auto k = fields.integer("top_k", -1, std::numeric_limits<int>::max()))
    sampling.top_k = static_cast<int>(*k);
  sampling.seed = read_seed(fields);
  sampling.ignore_end = fields.flag("ignore_eos");
  read_grammar(fields, sampling);
}

std::optional<int> read_max_tokens(Fields& fields) {
  constexpr int most = std::numeric_limits<int>::max();
  const auto newer = fields.integer("max_completion_tokens", 1, most);
  const auto older = fields.integer("max_tokens", 1, most);
  if (newer && older && newer != older) {
    throw ApiError("'max_tokens' and 'max_completion_tokens' differ", "max_tokens", "invalid_value");
  }
  if (newer) return static_cast<int>(*newer);
  if (older) return static_cast<int>(*older);
  return std::nullopt;
}

Generation read_generation(Fields& fields) {
  Generation generation;
  read_sampling(fields, generation.sampling);
  generation.max_tokens = read_max_tokens(fields);
  generation.stops = read_stops(fields);
  generation.stream = fields.flag("stream");
  if (auto options = fields.object("stream_options")) {
    if (!generation.stream) {
      throw ApiError("'stream_options' is for streamed answers only", "stream_options", "invalid_value");
    }
    generation.include_usage = options->flag("include_usage");
    options->ignore({"include_obfuscation"});
    options->end();
  }
  fields.refuse("n", "this model gives one answer a request", {1});
  fields.refuse("logit_bias", "this model has no biases for tokens", {Json::object()});
  ignore_labels(fields);
  return generation;
}

void refuse_chat_features(Fields& fields) {
  fields.refuse("logprobs", "this model does not report probabilities", {false});
  fields.refuse("top_logprobs", "this model does not report probabilities", {0});
  for (const char* name : {"tools", "functions"}) {
    fields.refuse(name, "this model cannot call tools", {Json::array()});
  }
  for (const char* name : {"tool_choice", "function_call"}) {
    fields.refuse(name, "this model cannot call tools", {"none", "auto"});
  }
  fields.refuse("modalities", "this model answers with text", {Json::array({"text"})});
  fields.refuse("audio", "this model answers with text");
  fields.refuse("prediction", "this model takes no predicted answer");
  fields.refuse("web_search_options", "this model cannot search");
}

std::string read_content(Fields& message, const std::string& about) {
  const Json& content = message.require("content");
  if (content.is_string()) return content;
  if (!content.is_array()) throw ApiError("'" + about + "' must be a string or a list of parts", about, "invalid_type");
  std::string text;
  for (const Json& item : content) {
    const bool is_text =
        item.is_object() && item.value("type", Json()) == "text" && item.contains("text") && item["text"].is_string();
    if (!is_text) throw ApiError("'" + about + "': this model reads text only", about, "unsupported_parameter");
    text += item["text"].get_ref<const std::string&>();
  }
  return text;
}

Message read_message(const Json& json, const std::string& about) {
  if (!json.is_object()) throw ApiError("'" + about + "' must be an object", about, "invalid_type");
  Fields fields(json, about + ".");
  Message message;
  message.role = fields.text("role").value_or("");
  if (message.role == "developer") message.role = "system";
  if (message.role != "system" && message.role != "user" && message.role != "assistant") {
    throw ApiError("'" + about + ".role' must be system, developer, user or assistant", about + ".role",
                   "invalid_value");
  }
  fields.refuse("tool_calls", "this model cannot call tools", {Json::array()});
  fields.refuse("function_call", "this model cannot call tools");
  message.content = read_content(fields, about + ".content");
  if (message.content.find('\0') != std::string::npos) {
    throw ApiError("'" + about + ".content' holds a zero byte", about + ".content", "invalid_value");
  }
  fields.ignore({"name", "refusal", "annotations", "audio"});
  fields.end();
  return message;
}

Prompt read_prompt(const Json& json, const std::string& about) {
  if (json.is_string()) return json.get<std::string>();
  std::vector<Token> tokens;
  for (const Json& token : json) {
    if (!token.is_number_integer() || token < 0 || token > std::numeric_limits<Token>::max()) {
      throw ApiError("'" + about + "' must be a string or a list of tokens", about, "invalid_type");
    }
    tokens.push_back(token);
  }
  return tokens;
}

// A string, tokens, or a list of either.
std::vector<Prompt> read_prompts(Fields& fields, const std::string& name) {
  const Json& json = fields.require(name);
  if (!json.is_string() && !json.is_array()) {
    throw ApiError("'" + name + "' must be a string or a list", name, "invalid_type");
  }
  if (json.is_string() || json.empty() || json.front().is_number()) return {read_prompt(json, name)};
  std::vector<Prompt> prompts;
  for (const Json& item : json) {
    if (!item.is_string() && !item.is_array()) {
      throw ApiError("'" + name + "' must be a list of strings or of lists of tokens", name, "invalid_type");
    }
    prompts.push_back(read_prompt(item, name));
  }
  return prompts;
}

}  // namespace

ChatRequest read_chat(std::string_view body) {
  Fields fields = Fields::parse(body);
  ChatRequest request;
  const Json& messages = fields.require("messages");
  if (!messages.is_array() || messages.empty()) {
    throw ApiError("'messages' must be a list of at least one message", "messages", "invalid_type");
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    request.messages.push_back(read_message(messages[i], "messages[" + std::to_string(i) + "]"));
  }
  request.generation = read_generation(fields);
  refuse_chat_features(fields);
  fields.end();
  return request;
}

CompletionRequest read_completion(std::string_view body) {
  Fields fields = Fields::parse(body);
  CompletionRequest request;
  std::vector<Prompt> prompts = read_prompts(fields, "prompt");
  if (prompts.size() != 1)
    throw ApiError("'prompt': this model takes one prompt a request", "prompt", "unsupported_parameter");
  request.prompt = std::move(prompts.front());
  request.generation = read_generation(fields);
  // The one default by which this API differs from chat.
  if (!request.generation.max_tokens) request.generation.max_tokens = 16;
  fields.refuse("logprobs", "this model does not report probabilities", {false});
  fields.refuse("best_of", "this model gives one answer a request", {1});
  fields.refuse("echo", "this model does not repeat the prompt", {false});
  fields.refuse("suffix", "this model does not fill in between", {""});
  fields.end();
  return request;
}

EmbeddingRequest read_embedding(std::string_view body) {
  Fields fields = Fields::parse(body);
  EmbeddingRequest request;
  request.inputs = read_prompts(fields, "input");
  if (request.inputs.size() > max_embedding_inputs) {
    throw ApiError("'input' holds at most " + std::to_string(max_embedding_inputs) + " texts", "input",
                   "invalid_value");
  }
  const std::string format = fields.text("encoding_format").value_or("float");
  if (format != "float" && format != "base64") {
    throw ApiError("'encoding_format' must be float or base64", "encoding_format", "invalid_value");
  }
  request.base64 = format == "base64";
  if (const auto size = fields.integer("dimensions", 1, std::numeric_limits<int>::max())) {
    request.dimensions = static_cast<int>(*size);
  }
  ignore_labels(fields);
  fields.end();
  return request;
}

}  // namespace brink::model
