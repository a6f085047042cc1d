#include "proxy/model/answer.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>

namespace brink::model {

namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "embeddings go out as little-endian floats");

Json finish_reason(Finish finish) {
  if (finish == Finish::stop) return "stop";
  if (finish == Finish::length) return "length";
  return nullptr;
}

Json usage_object(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

Json frame(const AnswerHead& head, const char* object, Json choices) {
  return {{"id", head.id},
          {"object", object},
          {"created", head.created},
          {"model", head.model},
          {"choices", std::move(choices)}};
}

const char* chunk_object(const AnswerHead& head) { return head.chat ? "chat.completion.chunk" : "text_completion"; }

// `content` is a delta of a chat, or the text of a completion.
std::string chunk(const AnswerHead& head, Json content, Finish finish) {
  Json choice{{"index", 0},
              {head.chat ? "delta" : "text", std::move(content)},
              {"logprobs", nullptr},
              {"finish_reason", finish_reason(finish)}};
  Json json = frame(head, chunk_object(head), Json::array({std::move(choice)}));
  if (head.include_usage) json["usage"] = nullptr;
  return json.dump();
}

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string whole_answer(const AnswerHead& head, std::string_view text, Finish finish, const Usage& usage) {
  Json choice{{"index", 0}};
  if (head.chat) {
    choice["message"] = {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}};
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason(finish);
  Json json = frame(head, head.chat ? "chat.completion" : "text_completion", Json::array({std::move(choice)}));
  json["usage"] = usage_object(usage);
  return json.dump();
}

std::string first_chunk(const AnswerHead& head) {
  return chunk(head, {{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}, Finish::none);
}

std::string text_chunk(const AnswerHead& head, std::string_view text) {
  return chunk(head, head.chat ? Json{{"content", text}} : Json(text), Finish::none);
}

std::string finish_chunk(const AnswerHead& head, Finish finish) {
  return chunk(head, head.chat ? Json::object() : Json(""), finish);
}

std::string usage_chunk(const AnswerHead& head, const Usage& usage) {
  Json json = frame(head, chunk_object(head), Json::array());
  json["usage"] = usage_object(usage);
  return json.dump();
}

std::string embedding_answer(const std::string& model, const Delivery& delivery, bool base64) {
  Json data = Json::array();
  for (std::size_t i = 0; i < delivery.embeddings.size(); ++i) {
    const std::vector<float>& values = delivery.embeddings[i];
    Json item{{"object", "embedding"}, {"index", i}};
    if (base64) {
      std::string bytes(values.size() * sizeof(float), '\0');
      std::memcpy(bytes.data(), values.data(), bytes.size());
      item["embedding"] = base64_of(bytes);
    } else {
      item["embedding"] = values;
    }
    data.push_back(std::move(item));
  }
  const int tokens = delivery.usage.prompt_tokens;
  return Json{{"object", "list"},
              {"data", std::move(data)},
              {"model", model},
              {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}}
      .dump();
}

std::string model_list(const std::string& model, std::int64_t created) {
  const Json entry{{"id", model}, {"object", "model"}, {"created", created}, {"owned_by", "brink"}};
  return Json{{"object", "list"}, {"data", Json::array({entry})}}.dump();
}

std::string error_body(const ApiError& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const char* type = error.status < 500 ? "invalid_request_error" : "server_error";
  // Messages quote the request, which may hold anything.
  return Json{
      {"error",
       {{"message", error.what()}, {"type", type}, {"param", or_null(error.param)}, {"code", or_null(error.code)}}}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace brink::model
