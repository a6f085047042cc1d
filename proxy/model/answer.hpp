// The JSON of this server's answers, in the shapes of OpenAI's API. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/model/api_error.hpp"
#include "proxy/model/job.hpp"

namespace brink::model {

// What all parts of one answer have in common.
struct AnswerHead {
  bool chat = true;  // otherwise a text completion
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
  bool include_usage = false;  // `usage` stands in every chunk, null in all but the last
};

std::string whole_answer(const AnswerHead& head, std::string_view text, Finish finish, const Usage& usage);

// Chunks of a stream, each the data of one event. A chat begins with the role.
std::string first_chunk(const AnswerHead& head);
std::string text_chunk(const AnswerHead& head, std::string_view text);
std::string finish_chunk(const AnswerHead& head, Finish finish);
std::string usage_chunk(const AnswerHead& head, const Usage& usage);

std::string embedding_answer(const std::string& model, const Delivery& delivery, bool base64);
std::string model_list(const std::string& model, std::int64_t created);
std::string error_body(const ApiError& error);

}  // namespace brink::model
