#include "cache/inference/stream_joiner.hpp"

#include "cache/inference/recorder.hpp"

namespace brink::cache::inference {
namespace {

bool is_text_of_message(std::string_view name) {
  return name == "content" || name == "refusal" || name == "reasoning" || name == "reasoning_content";
}

bool is_list_of_logprobs(std::string_view name) {
  return name == "content" || name == "refusal" || name == "tokens" || name == "token_logprobs" ||
         name == "top_logprobs" || name == "text_offset";
}

bool is_same_in_events(std::string_view name) {
  return name == "id" || name == "created" || name == "model" || name == "system_fingerprint" || name == "service_tier";
}

bool never_falls(const Json& numbers) {
  if (!numbers.is_array()) return true;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] < numbers[i - 1]) return false;
  }
  return true;
}

}  // namespace

bool StreamJoiner::fail(const char* why) {
  why_ = why;
  return false;
}

bool StreamJoiner::add(std::string_view data) {
  const Json event = parse_object(data);
  if (event.is_discarded()) return fail("an event is no JSON object, or too large a one");
  ++events_;
  const auto object = event.find("object");
  if (object == event.end() || *object != event_object(endpoint_)) return fail("an event is not of the expected kind");
  const auto choices = event.find("choices");
  if (choices == event.end() || !choices->is_array()) return fail("an event has no choices");
  for (const auto& [name, value] : event.items()) {
    if (name == "object" || name == "choices" || name == "obfuscation") continue;
    if (!(name == "usage" ? add_usage(value) : add_member(name, value))) return false;
  }
  if (!choices->empty() && usage_.is_object() && usage_event_ != events_) return fail("usage is told before the end");
  for (const Json& choice : *choices) {
    if (!add_choice(choice)) return false;
  }
  return true;
}

bool StreamJoiner::add_usage(const Json& value) {
  if (value.is_null()) return true;
  if (!usage_.is_null()) return fail("usage is told more than once");
  if (!value.is_object()) return fail("usage is no object");
  usage_ = value;
  usage_event_ = events_;
  return true;
}

bool StreamJoiner::add_member(const std::string& name, const Json& value) {
  if (!is_same_in_events(name) && !value.is_null()) ++unknown_[name];
  return join(head_, name, value, Join::same);
}

bool StreamJoiner::add_choice(const Json& piece) {
  const auto index = piece.is_object() ? piece.find("index") : piece.end();
  if (!piece.is_object() || index == piece.end() || !index->is_number_unsigned()) return fail("a choice has no index");
  const auto number = index->get<std::size_t>();
  if (number >= StreamRecorder::max_choices) return fail("there are too many choices");
  const bool is_chat = endpoint_ == Endpoint::chat;
  Json& choice = choices_[number];
  if (choice.is_null()) choice["index"] = number;
  if (is_chat && !choice.contains("message")) choice["message"] = Json::object();
  for (const auto& [name, value] : piece.items()) {
    bool fine = true;
    if (name == "delta" && is_chat)
      fine = add_delta(choice["message"], value);
    else if (name == "message")
      fine = fail("a choice of an event has a message");
    else if (name == "text" && !is_chat)
      fine = join(choice, name, value, Join::text);
    else if (name == "logprobs")
      fine = add_logprobs(choice, value);
    else if (name == "token_ids")
      fine = join(choice, name, value, Join::list);
    else if (name != "index")
      fine = join(choice, name, value, Join::once);
    if (!fine) return false;
  }
  return true;
}

bool StreamJoiner::add_delta(Json& message, const Json& delta) {
  if (!delta.is_object()) return fail("a delta is no object");
  for (const auto& [name, value] : delta.items()) {
    bool fine = true;
    if (is_text_of_message(name))
      fine = join(message, name, value, Join::text);
    else if (name == "role")
      fine = join(message, name, value, Join::word);
    else if (name == "tool_calls" && !value.is_null())
      fine = add_calls(message, value);
    else if (name == "function_call" && !value.is_null())
      fine = add_function(message, name, value);
    else if (name == "annotations")
      fine = join(message, name, value, Join::list);
    else if (name == "audio" && !value.is_null())
      fine = fail("audio cannot be joined");
    else
      fine = join(message, name, value, Join::once);
    if (!fine) return false;
  }
  return true;
}

bool StreamJoiner::add_calls(Json& message, const Json& pieces) {
  if (!pieces.is_array()) return fail("tool_calls is no list");
  Json& calls = message["tool_calls"];
  if (calls.is_null()) calls = Json::array();
  for (const Json& piece : pieces) {
    const auto index = piece.is_object() ? piece.find("index") : piece.end();
    if (!piece.is_object() || index == piece.end() || !index->is_number_unsigned())
      return fail("a tool call has no index");
    const auto number = index->get<std::size_t>();
    if (number > calls.size()) return fail("there is a gap in the tool calls");
    if (number == calls.size()) calls.push_back(Json::object());
    if (!add_call(calls[number], piece)) return false;
  }
  return true;
}

bool StreamJoiner::add_call(Json& call, const Json& piece) {
  for (const auto& [name, value] : piece.items()) {
    bool fine = true;
    if (name == "id" || name == "type")
      fine = join(call, name, value, Join::word);
    else if (name == "function")
      fine = add_function(call, name, value);
    else if (name != "index")
      fine = join(call, name, value, Join::once);
    if (!fine) return false;
  }
  return true;
}

bool StreamJoiner::add_function(Json& owner, const std::string& name, const Json& piece) {
  if (!piece.is_object()) return fail("a function call is no object");
  Json& function = owner[name];
  if (function.is_null()) function = Json::object();
  for (const auto& [member, value] : piece.items()) {
    // Repeated, it could be a piece of the name or the name again. An empty text after it is neither.
    const bool is_said = member == "name" && value == "" && function.contains(member);
    if (!is_said && !join(function, member, value, member == "arguments" ? Join::text : Join::once)) return false;
  }
  return true;
}

bool StreamJoiner::add_logprobs(Json& choice, const Json& piece) {
  if (!piece.is_object()) return piece.is_null() ? join(choice, "logprobs", piece, Join::once) : fail("odd logprobs");
  Json& logprobs = choice["logprobs"];
  if (logprobs.is_null()) logprobs = Json::object();
  for (const auto& [name, value] : piece.items()) {
    if (!join(logprobs, name, value, is_list_of_logprobs(name) ? Join::list : Join::once)) return false;
  }
  return true;
}

bool StreamJoiner::join(Json& object, const std::string& name, const Json& value, Join how) {
  const bool is_text = how == Join::text || how == Join::word;
  if (!value.is_null() && ((is_text && !value.is_string()) || (how == Join::list && !value.is_array())))
    return fail("a member is of another type than expected");
  Json& slot = object[name];
  if (object.size() > max_members) return fail("there are too many members");
  if (value.is_null()) return true;
  if (slot.is_null() || (how == Join::word && slot == "")) {
    slot = value;
    return true;
  }
  switch (how) {
    case Join::text:
      slot.get_ref<std::string&>() += value.get_ref<const std::string&>();
      return true;
    case Join::list:
      slot.insert(slot.end(), value.begin(), value.end());
      return true;
    case Join::word:
      return value == "" || slot == value || fail("a member changes from event to event");
    case Join::same:
      return slot == value || fail("a member changes from event to event");
    case Join::once:
      break;
  }
  return fail("a member comes in several pieces, and how they are joined is not known");
}

bool StreamJoiner::finish_message(Json& message) {
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string()) return fail("a choice has no role");
  if (!message.contains("content")) message["content"] = nullptr;
  const auto finish_function = [this](Json& function) {
    const auto name = function.find("name");
    if (name == function.end() || !name->is_string()) return fail("a function call has no name");
    if (!function.contains("arguments") || function["arguments"].is_null()) function["arguments"] = "";
    return true;
  };
  const auto calls = message.find("tool_calls");
  if (calls != message.end() && calls->is_array()) {
    for (Json& call : *calls) {
      if (call.contains("type") && call["type"] != "function") return fail("a tool call is of an unknown type");
      if (!call.contains("function")) return fail("a tool call has no function");
      if (!finish_function(call["function"])) return false;
    }
  }
  const auto call = message.find("function_call");
  return call == message.end() || call->is_null() || finish_function(*call);
}

bool StreamJoiner::finish_choice(Json& choice) {
  const auto finish_reason = choice.find("finish_reason");
  if (finish_reason == choice.end() || !finish_reason->is_string()) return fail("a choice was not finished");
  const auto logprobs = choice.find("logprobs");
  if (logprobs != choice.end() && logprobs->is_object() && logprobs->contains("text_offset") &&
      !never_falls((*logprobs)["text_offset"]))
    return fail("offsets are counted anew in each event");
  if (endpoint_ == Endpoint::chat) return finish_message(choice["message"]);
  const auto text = choice.find("text");
  return (text != choice.end() && text->is_string()) || fail("a choice has no text");
}

bool StreamJoiner::finish(bool needs_usage, Json& answer) {
  if (why_ != nullptr) return false;
  if (needs_usage && usage_.is_null()) return fail("the stream does not tell the usage");
  for (const char* name : {"id", "created", "model"}) {
    if (!head_.contains(name) || head_[name].is_null()) return fail("the events lack id, created or model");
  }
  for (const auto& [name, count] : unknown_) {
    if (count != 1 && count != events_) return fail("a member comes in some events, and what it means is not known");
  }
  if (choices_.empty() || choices_.rbegin()->first != choices_.size() - 1) return fail("there is a gap in the choices");
  answer = {{"id", head_["id"]},
            {"object", plain_object(endpoint_)},
            {"created", head_["created"]},
            {"model", head_["model"]}};
  Json& choices = answer["choices"] = Json::array();
  for (auto& [index, choice] : choices_) {
    if (!finish_choice(choice)) return false;
    choices.push_back(std::move(choice));
  }
  if (!usage_.is_null()) answer["usage"] = std::move(usage_);
  for (auto& [name, value] : head_.items()) {
    if (!answer.contains(name)) answer[name] = std::move(value);
  }
  return true;
}

}  // namespace brink::cache::inference
