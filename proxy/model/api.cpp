#include "proxy/model/api.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <chrono>
#include <random>
#include <utility>

#include "proxy/model/answer_writer.hpp"
#include "proxy/model/exposition.hpp"

namespace brink::model {

namespace {

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string make_id(bool chat) {
  std::string id = chat ? "chatcmpl-" : "cmpl-";
  std::random_device random;
  for (int i = 0; i < 24; ++i) id += "0123456789abcdef"[random() % 16];
  return id;
}

void reply_error(const ApiError& error, HttpConnection& connection, std::string_view fields = {}) {
  const std::string_view retry = error.status == 503 ? "retry-after: 1\r\n" : fields;
  connection.reply(error.status, "application/json", error_body(error), retry);
}

}  // namespace

Api::Api(boost::asio::io_context& context, std::string model)
    : context_(context), model_(std::move(model)), started_(unix_seconds()) {}

void Api::attach(const Engine& engine, Scheduler& scheduler) {
  engine_ = &engine;
  scheduler_ = &scheduler;
  ready_.store(true, std::memory_order_release);
}

void Api::serve(const HttpRequest& request, const Connection& connection) {
  try {
    route(request, connection);
  } catch (const ApiError& error) {
    reply_error(error, *connection);
  } catch (const std::exception& error) {
    reply_error(ApiError(error.what(), {}, "internal_error", 500), *connection);
  }
}

void Api::route(const HttpRequest& request, const Connection& connection) {
  using Post = void (Api::*)(const std::string&, const Connection&);
  constexpr std::array<std::pair<std::string_view, Post>, 3> posts{{{"/v1/chat/completions", &Api::chat},
                                                                    {"/v1/completions", &Api::completion},
                                                                    {"/v1/embeddings", &Api::embedding}}};
  constexpr std::array<std::string_view, 3> gets{"/health", "/metrics", "/v1/models"};
  const auto post =
      std::find_if(posts.begin(), posts.end(), [&](const auto& row) { return row.first == request.path; });
  const bool is_get = std::find(gets.begin(), gets.end(), request.path) != gets.end();
  if (post == posts.end() && !is_get) {
    throw ApiError("There is no " + request.path + " here", {}, "not_found", 404);
  }
  if (request.method != (is_get ? "GET" : "POST")) {
    const ApiError error("This path takes " + std::string(is_get ? "GET" : "POST") + " only", {}, "method_not_allowed",
                         405);
    reply_error(error, *connection, is_get ? "allow: GET\r\n" : "allow: POST\r\n");
    return;
  }
  const bool ready = ready_.load(std::memory_order_acquire);
  if (request.path == "/health") {
    connection->reply(ready ? 200 : 503, "application/json", ready ? R"({"status":"ok"})" : R"({"status":"loading"})",
                      ready ? "" : "retry-after: 1\r\n");
    return;
  }
  if (!ready) throw ApiError("The model is being loaded", {}, "loading", 503);
  if (post != posts.end()) {
    (this->*post->second)(request.body, connection);
  } else if (request.path == "/metrics") {
    connection->reply(200, "text/plain; version=0.0.4", exposition(scheduler_->stats(), engine_->shape()));
  } else {
    connection->reply(200, "application/json", model_list(model_, started_));
  }
}

void Api::check_length(std::size_t tokens, const char* param, int most) const {
  if (tokens == 0) throw ApiError(std::string("'") + param + "' holds no tokens", param, "invalid_value");
  if (tokens <= static_cast<std::size_t>(most)) return;
  throw ApiError("This model's maximum context length is " + std::to_string(engine_->shape().context) +
                     " tokens. However, your input resulted in " + std::to_string(tokens) +
                     " tokens. Please reduce the length of the input.",
                 param, "context_length_exceeded");
}

std::vector<Token> Api::tokens_of(const Prompt& prompt, const char* param, int most) const {
  if (const auto* tokens = std::get_if<std::vector<Token>>(&prompt)) {
    for (const Token token : *tokens) {
      if (!engine_->knows(token)) throw ApiError("There is no token " + std::to_string(token), param, "invalid_value");
    }
    check_length(tokens->size(), param, most);
    return *tokens;
  }
  const std::string& text = std::get<std::string>(prompt);
  // A text that is too long by its bytes alone costs no work.
  if (text.size() / engine_->longest_piece() > static_cast<std::size_t>(most)) {
    check_length(text.size() / engine_->longest_piece(), param, most);
  }
  std::vector<Token> tokens = engine_->tokenize(text);
  check_length(tokens.size(), param, most);
  return tokens;
}

void Api::chat(const std::string& body, const Connection& connection) {
  ChatRequest request = read_chat(body);
  const int most = engine_->shape().context - 1;
  std::size_t bytes = 0;
  for (const Message& message : request.messages) bytes += message.content.size();
  const std::size_t least = bytes / engine_->longest_piece();
  if (least > static_cast<std::size_t>(most)) check_length(least, "messages", most);
  std::vector<Token> prompt = engine_->tokenize(request.messages);
  check_length(prompt.size(), "messages", most);
  for (std::string& end : engine_->turn_ends()) request.generation.stops.push_back(std::move(end));
  generate(std::move(request.generation), std::move(prompt), true, connection);
}

void Api::completion(const std::string& body, const Connection& connection) {
  CompletionRequest request = read_completion(body);
  std::vector<Token> prompt = tokens_of(request.prompt, "prompt", engine_->shape().context - 1);
  generate(std::move(request.generation), std::move(prompt), false, connection);
}

void Api::generate(Generation generation, std::vector<Token> prompt, bool is_chat, const Connection& connection) {
  if (!engine_->shape().generates) {
    throw ApiError("This model makes embeddings only", "model", "unsupported_parameter");
  }
  auto job = std::make_shared<Job>();
  try {
    job->sampler = engine_->make_sampler(generation.sampling);
  } catch (const EngineError& error) {
    throw ApiError(error.what(), "grammar", "invalid_value");
  }
  job->inputs.push_back(std::move(prompt));
  job->max_tokens = generation.max_tokens.value_or(engine_->shape().context);
  job->stops = std::move(generation.stops);
  AnswerHead head{.chat = is_chat,
                  .id = make_id(is_chat),
                  .created = unix_seconds(),
                  .model = model_,
                  .include_usage = generation.include_usage};
  auto writer = std::make_shared<AnswerWriter>(std::move(head), generation.stream, connection);
  job->deliver = [this, writer](Delivery delivery) {
    boost::asio::post(context_, [writer, delivery = std::move(delivery)] { writer->take(delivery); });
  };
  submit(job, connection);
}

void Api::embedding(const std::string& body, const Connection& connection) {
  const EmbeddingRequest request = read_embedding(body);
  const Engine::Shape shape = engine_->shape();
  if (request.dimensions && *request.dimensions != shape.embedding) {
    throw ApiError("'dimensions': this model's embeddings have " + std::to_string(shape.embedding), "dimensions",
                   "unsupported_parameter");
  }
  auto job = std::make_shared<Job>();
  for (const Prompt& input : request.inputs) job->inputs.push_back(tokens_of(input, "input", shape.embeddable));
  job->deliver = [this, connection, base64 = request.base64](Delivery delivery) {
    boost::asio::post(context_, [this, connection, base64, delivery = std::move(delivery)] {
      if (!delivery.error.empty()) {
        reply_error(ApiError(delivery.error, {}, "model_failed", 500), *connection);
      } else {
        connection->reply(200, "application/json", embedding_answer(model_, delivery, base64));
      }
    });
  };
  submit(job, connection);
}

void Api::submit(const std::shared_ptr<Job>& job, const Connection& connection) {
  if (!scheduler_->submit(job)) {
    throw ApiError("The model is busy and its queue is full", {}, "queue_full", 503);
  }
  // The job holds the connection, so not the other way round.
  connection->on_gone([this, weak = std::weak_ptr(job)] {
    if (const auto still = weak.lock()) scheduler_->cancel(*still);
  });
}

}  // namespace brink::model
