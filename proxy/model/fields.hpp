// The members of a request body, taken one by one with their types checked; what nobody took is an error. Used while a
// request is read; one thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace brink::model {

class Fields {
 public:
  using Json = nlohmann::ordered_json;

  // Throws ApiError for what is no JSON object, or nested deeper than 64 levels.
  static Fields parse(std::string_view body);
  explicit Fields(Json object, std::string prefix = {}) : object_(std::move(object)), prefix_(std::move(prefix)) {}

  // nullptr if absent or null. All of these throw ApiError for a wrong type.
  const Json* take(const std::string& name);
  const Json& require(const std::string& name);
  bool flag(const std::string& name, bool fallback = false);
  std::optional<double> number(const std::string& name, double least, double most);
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most);
  std::optional<std::string> text(const std::string& name);
  std::optional<Fields> object(const std::string& name);

  // The member may be absent, null, or one of what changes nothing; otherwise the answer would not be as asked.
  void refuse(const std::string& name, std::string_view why, std::initializer_list<Json> harmless = {});
  // Members that say nothing about the answer's content.
  void ignore(std::initializer_list<const char*> names);
  void end() const;  // throws for the first member that was not taken

  std::string param(const std::string& name) const { return prefix_ + name; }

 private:
  Json object_;
  std::string prefix_;  // for messages: "stream_options."
  std::set<std::string, std::less<>> taken_;
};

}  // namespace brink::model
