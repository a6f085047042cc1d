#include "cache/inference/stream_writer.hpp"

#include <algorithm>
#include <array>

namespace brink::cache::inference {
namespace {

// In the order in which models say them.
constexpr std::array<std::string_view, 4> texts = {"reasoning_content", "reasoning", "content", "refusal"};

bool is_text_of_message(std::string_view name) { return std::find(texts.begin(), texts.end(), name) != texts.end(); }

bool is_placed_apart(std::string_view name) {
  return name == "index" || name == "message" || name == "text" || name == "logprobs" || name == "token_ids" ||
         name == "finish_reason" || name == "stop_reason";
}

bool has_text(const Json& object, std::string_view name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() && *member != "";
}

// The event that carries what belongs to tokens: the one with the text they make. Empty: the first.
std::string_view carrier_of(const Json& message) {
  if (has_text(message, "content")) return "content";
  return has_text(message, "refusal") ? std::string_view("refusal") : std::string_view();
}

}  // namespace

bool StreamWriter::fail(const char* why) {
  why_ = why;
  return false;
}

bool StreamWriter::write(const Json& answer) {
  if (!read_head(answer)) return false;
  const auto usage = answer.find("usage");
  const bool has_usage = usage != answer.end() && usage->is_object();
  if (with_usage_ && !has_usage) return fail("the answer does not tell the usage");
  const auto choices = answer.find("choices");
  if (choices == answer.end() || !choices->is_array() || choices->empty()) return fail("the answer has no choices");
  for (std::size_t i = 0; i < choices->size(); ++i) {
    const Json& choice = (*choices)[i];
    if (!choice.is_object() || !choice.contains("index") || choice["index"] != i)
      return fail("the choices are out of order");
    choice_ = &choice;
    if (!write_choice(choice)) return false;
  }
  if (with_usage_ && !write_event(Json::array(), *usage)) return false;
  stream_ += "data: [DONE]\n\n";
  return true;
}

bool StreamWriter::read_head(const Json& answer) {
  const auto object = answer.find("object");
  if (object == answer.end() || *object != plain_object(endpoint_))
    return fail("the answer is not of the expected kind");
  for (const char* name : {"id", "created", "model"}) {
    if (!answer.contains(name) || answer[name].is_null()) return fail("the answer lacks id, created or model");
  }
  if (answer.contains("obfuscation")) return fail("a member of the answer would read as padding");
  head_ = {{"id", answer["id"]},
           {"object", event_object(endpoint_)},
           {"created", answer["created"]},
           {"model", answer["model"]}};
  for (const auto& [name, value] : answer.items()) {
    if (name == "service_tier" || name == "system_fingerprint")
      head_[name] = value;
    else if (name != "choices" && name != "usage" && !head_.contains(name))
      first_[name] = value;
  }
  return true;
}

bool StreamWriter::write_choice(const Json& choice) {
  if (!choice.contains("finish_reason") || !choice["finish_reason"].is_string())
    return fail("a choice was not finished");
  if (endpoint_ == Endpoint::chat) {
    if (!choice.contains("message") || choice.contains("delta") || choice.contains("text"))
      return fail("a choice is not of the expected shape");
    return write_chat(choice["message"]) && write_piece({{"delta", Json::object()}}, Place::last, false);
  }
  if (!choice.contains("text") || !choice["text"].is_string() || choice.contains("message"))
    return fail("a choice is not of the expected shape");
  return write_piece({{"text", choice["text"]}}, Place::opening, true) &&
         write_piece({{"text", ""}}, Place::last, false);
}

bool StreamWriter::write_chat(const Json& message) {
  Json delta;
  if (!open_chat(message, delta)) return false;
  const std::string_view carrier = carrier_of(message);
  if (!write_piece({{"delta", std::move(delta)}}, Place::opening, carrier.empty())) return false;
  for (const std::string_view name : texts) {
    if (!has_text(message, name)) continue;
    const Json text = {{std::string(name), *message.find(name)}};
    if (!write_piece({{"delta", text}}, Place::middle, name == carrier)) return false;
  }
  const auto calls = message.find("tool_calls");
  if (calls != message.end() && calls->is_array() && !write_calls(*calls)) return false;
  const auto call = message.find("function_call");
  if (call == message.end() || call->is_null()) return true;
  return write_function(*call, {{"delta", {{"function_call", *call}}}},
                        {{"delta", {{"function_call", Json::object()}}}});
}

// The first delta: what does not come in pieces, and the empty or absent beginning of what does.
bool StreamWriter::open_chat(const Json& message, Json& delta) {
  if (!message.is_object() || !message.contains("role") || !message["role"].is_string() || !message.contains("content"))
    return fail("a message has no role or no content");
  delta = {{"role", message["role"]}, {"content", message["content"].is_null() ? Json() : Json("")}};
  for (const auto& [name, value] : message.items()) {
    if (is_text_of_message(name)) {
      if (!value.is_null() && !value.is_string()) return fail("a text of a message is none");
      if (value.is_null() || value == "") delta[name] = value;
    } else if (name == "tool_calls") {
      if (!value.is_null() && !value.is_array()) return fail("tool_calls is no list");
      if (value.empty()) delta[name] = value;
    } else if (name == "audio" && !value.is_null()) {
      return fail("audio cannot be streamed");
    } else if (name != "role" && (name != "function_call" || value.is_null())) {
      delta[name] = value;
    }
  }
  return true;
}

bool StreamWriter::write_calls(const Json& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Json& call = calls[i];
    if (!call.is_object() || call.contains("index") || !call.contains("function"))
      return fail("a tool call is not of the expected shape");
    if (call.contains("type") && call["type"] != "function") return fail("a tool call is of an unknown type");
    Json opening = {{"index", i}};
    opening.update(call);
    const Json rest = {{"index", i}, {"function", Json::object()}};
    if (!write_function(call["function"], {{"delta", {{"tool_calls", Json::array({opening})}}}},
                        {{"delta", {{"tool_calls", Json::array({rest})}}}}))
      return false;
  }
  return true;
}

// `opening` holds the function whole, `rest` an empty object in its place: the arguments move from one to the other.
bool StreamWriter::write_function(const Json& function, Json opening, Json rest) {
  if (!function.is_object() || !function.contains("name") || !function["name"].is_string() ||
      !function.contains("arguments") || !function["arguments"].is_string())
    return fail("a function call is not of the expected shape");
  const auto place = [](Json& piece) -> Json& {
    Json& delta = piece["delta"];
    return delta.contains("tool_calls") ? delta["tool_calls"][0]["function"] : delta["function_call"];
  };
  place(opening)["arguments"] = "";
  if (!write_piece(opening, Place::middle, false)) return false;
  if (function["arguments"] == "") return true;
  place(rest)["arguments"] = function["arguments"];
  return write_piece(rest, Place::middle, false);
}

// `piece` holds a delta or a text. `carries`: it comes with what belongs to the tokens.
bool StreamWriter::write_piece(const Json& piece, Place place, bool carries) {
  const Json& from = *choice_;
  Json choice = {{"index", from["index"]}};
  choice.update(piece);
  if (from.contains("logprobs")) choice["logprobs"] = carries ? from["logprobs"] : Json();
  choice["finish_reason"] = place == Place::last ? from["finish_reason"] : Json();
  if (place == Place::last && from.contains("stop_reason")) choice["stop_reason"] = from["stop_reason"];
  if (carries && from.contains("token_ids")) choice["token_ids"] = from["token_ids"];
  if (place == Place::opening) {
    for (const auto& [name, value] : from.items()) {
      if (!is_placed_apart(name)) choice[name] = value;
    }
  }
  return write_event(Json::array({std::move(choice)}), Json());
}

bool StreamWriter::write_event(Json choices, const Json& usage) {
  Json event = head_;
  event["choices"] = std::move(choices);
  if (with_usage_) event["usage"] = usage;
  event.update(first_);
  first_.clear();
  stream_ += "data: ";
  stream_ += event.dump();
  stream_ += "\n\n";
  return stream_.size() <= max_bytes_ || fail("the stream would be too large");
}

}  // namespace brink::cache::inference
