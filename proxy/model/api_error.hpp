// A request that cannot be answered, in the terms of OpenAI's error objects. Thrown while a request is read and caught
// once, where it becomes the reply.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace brink::model {

struct ApiError : std::runtime_error {
  explicit ApiError(const std::string& message, std::string about = {}, std::string id = {}, int http_status = 400)
      : std::runtime_error(message), param(std::move(about)), code(std::move(id)), status(http_status) {}
  std::string param;  // the member of the body it is about; empty: none
  std::string code;   // empty: none
  int status;
};

}  // namespace brink::model
