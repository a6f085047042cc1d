#include "tests/sim/routes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

namespace brink::sim {
namespace {

std::optional<Api> api_of(std::string_view path) {
  if (path == "/v1/chat/completions") return Api::chat;
  if (path == "/v1/completions") return Api::completion;
  if (path == "/v1/embeddings") return Api::embeddings;
  return std::nullopt;
}

bool is_read(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

std::string label(const Request& request) {
  return std::string(request.method_string()) + " " + std::string(path_of(request));
}

Reply method_refused(const Request& request, const char* allow) {
  Reply reply = error_reply({.status = 405, .message = label(request) + ": use " + allow});
  reply.headers.emplace_back("allow", allow);
  return reply;
}

Reply read_reply(Context& context, std::string_view path) {
  constexpr std::string_view models_prefix = "/v1/models/";
  const std::vector<std::string>& models = context.config.models;
  if (path == "/health") return {.body = R"({"status":"ok"})"};
  if (path == "/v1/models") return {.body = models_json(models)};
  if (path == "/metrics") {
    return {.body = metrics_text(context.driver.engine(), context.counters, models.front()),
            .content_type = "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (path.starts_with(models_prefix)) {
    const std::string_view model = path.substr(models_prefix.size());
    if (std::ranges::find(models, model) != models.end()) return {.body = model_json(model)};
    return error_reply({.status = 404,
                        .message = "The model `" + std::string(model) + "` does not exist.",
                        .type = "not_found_error",
                        .code = "model_not_found",
                        .param = "model"});
  }
  return error_reply({.status = 404, .message = "no such path: " + std::string(path), .type = "not_found_error"});
}

Generation generation_of(Context& context, Api api, const Request& request) {
  const ApiLimits limits{.models = context.config.models,
                         .context_tokens = context.config.engine.kv_blocks * block_tokens,
                         .seed = context.config.seed};
  return parse_generation(api, request.body(), limits);
}

FaultSet faults_for(Context& context, const Request& request) {
  std::string header;
  const auto [begin, end] = request.equal_range("x-sim-fault");
  for (auto it = begin; it != end; ++it) header.append(header.empty() ? "" : ",").append(std::string(it->value()));
  try {
    return context.faults.draw(path_of(request), header);
  } catch (const std::invalid_argument& error) {
    throw ApiError{.status = 400, .message = std::string("x-sim-fault: ") + error.what(), .param = "x-sim-fault"};
  }
}

}  // namespace

std::string_view path_of(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  return target.substr(0, target.find('?'));
}

Reply error_reply(const ApiError& error) {
  Reply reply{.status = error.status, .body = error_json(error)};
  if (error.status == 503) reply.headers.emplace_back("retry-after", "1");
  return reply;
}

Work decide(Context& context, const Request& request) {
  const std::string_view path = path_of(request);
  if (path.starts_with("/sim/")) return {.what = admin_reply(context, request), .faults = {}};
  const std::optional<Api> api = api_of(path);
  Work work{.what = Reply{}, .faults = {}, .counted = api && request.method() == http::verb::post};
  try {
    work.faults = faults_for(context, request);
    if (work.counted) {
      work.what = generation_of(context, *api, request);
    } else if (api) {
      work.what = method_refused(request, "POST");
    } else if (path == "/v1/realtime") {
      work.what = error_reply({.status = 426, .message = "/v1/realtime speaks WebSocket only"});
    } else {
      work.what = is_read(request) ? read_reply(context, path) : method_refused(request, "GET");
    }
  } catch (const ApiError& error) {
    work.what = error_reply(error);
  }
  return work;
}

}  // namespace brink::sim
