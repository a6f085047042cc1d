#include "proxy/model/fields.hpp"

#include <algorithm>
#include <cmath>

#include "proxy/model/api_error.hpp"

namespace brink::model {

namespace {

constexpr int max_depth = 64;

std::string shorten(double value) {
  const std::string text = nlohmann::json(value).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

Fields Fields::parse(std::string_view body) {
  const auto check_depth = [](int depth, Json::parse_event_t, Json&) {
    if (depth > max_depth) throw ApiError("The body is nested deeper than " + std::to_string(max_depth) + " levels");
    return true;
  };
  try {
    Json json = Json::parse(body, check_depth);
    if (!json.is_object()) throw ApiError("The body must be a JSON object");
    return Fields(std::move(json));
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();
    const std::size_t at = what.find("] ");
    throw ApiError("The body is no JSON: " + std::string(at == what.npos ? what : what.substr(at + 2)));
  }
}

const Fields::Json* Fields::take(const std::string& name) {
  taken_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Fields::Json& Fields::require(const std::string& name) {
  const Json* value = take(name);
  if (!value)
    throw ApiError("Missing required parameter: '" + param(name) + "'", param(name), "missing_required_parameter");
  return *value;
}

bool Fields::flag(const std::string& name, bool fallback) {
  const Json* value = take(name);
  if (!value) return fallback;
  if (!value->is_boolean()) throw ApiError("'" + param(name) + "' must be true or false", param(name), "invalid_type");
  return value->get<bool>();
}

std::optional<double> Fields::number(const std::string& name, double least, double most) {
  const Json* value = take(name);
  if (!value) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!(number >= least && number <= most)) {
    throw ApiError("'" + param(name) + "' must be a number from " + shorten(least) + " to " + shorten(most),
                   param(name), value->is_number() ? "invalid_value" : "invalid_type");
  }
  return number;
}

std::optional<std::int64_t> Fields::integer(const std::string& name, std::int64_t least, std::int64_t most) {
  const Json* value = take(name);
  if (!value) return std::nullopt;
  const bool fits = value->is_number_integer() && *value >= least && *value <= most;
  if (!fits) {
    throw ApiError(
        "'" + param(name) + "' must be an integer from " + std::to_string(least) + " to " + std::to_string(most),
        param(name), value->is_number_integer() ? "invalid_value" : "invalid_type");
  }
  return value->get<std::int64_t>();
}

std::optional<std::string> Fields::text(const std::string& name) {
  const Json* value = take(name);
  if (!value) return std::nullopt;
  if (!value->is_string()) throw ApiError("'" + param(name) + "' must be a string", param(name), "invalid_type");
  return value->get<std::string>();
}

std::optional<Fields> Fields::object(const std::string& name) {
  const Json* value = take(name);
  if (!value) return std::nullopt;
  if (!value->is_object()) throw ApiError("'" + param(name) + "' must be an object", param(name), "invalid_type");
  return Fields(*value, param(name) + ".");
}

void Fields::refuse(const std::string& name, std::string_view why, std::initializer_list<Json> harmless) {
  const Json* value = take(name);
  if (!value || std::find(harmless.begin(), harmless.end(), *value) != harmless.end()) return;
  throw ApiError("'" + param(name) + "': " + std::string(why), param(name), "unsupported_parameter");
}

void Fields::ignore(std::initializer_list<const char*> names) {
  for (const char* name : names) taken_.insert(name);
}

void Fields::end() const {
  for (const auto& [name, value] : object_.items()) {
    if (taken_.contains(name)) continue;
    throw ApiError("Unrecognized request argument supplied: " + param(name), param(name), "unknown_parameter");
  }
}

}  // namespace brink::model
