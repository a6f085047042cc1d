#include "proxy/model/exposition.hpp"

#include <cstdio>

namespace brink::model {

namespace {

void add(std::string& out, const char* name, const char* type, const char* help, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%.17g", value);
  out +=
      std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + name + " " + number + "\n";
}

}  // namespace

std::string exposition(const Scheduler::Stats& stats, const Engine::Shape& shape) {
  std::string out;
  const auto count = [&](const char* name, const char* help, std::uint64_t value) {
    add(out, name, "counter", help, static_cast<double>(value));
  };
  const auto gauge = [&](const char* name, const char* help, double value) { add(out, name, "gauge", help, value); };
  const double room = static_cast<double>(shape.sequences) * shape.context;
  gauge("llamacpp:requests_processing", "Requests that are answered now.", static_cast<double>(stats.active));
  gauge("llamacpp:requests_deferred", "Requests that wait for a free sequence.", static_cast<double>(stats.waiting));
  gauge("llamacpp:kv_cache_usage_ratio", "Share of the model's memory that holds tokens.",
        room > 0 ? static_cast<double>(stats.held_tokens) / room : 0);
  count("llamacpp:prompt_tokens_total", "Prompt tokens evaluated.", stats.prompt_tokens);
  count("llamacpp:tokens_predicted_total", "Tokens generated.", stats.completion_tokens);
  count("llamacpp:n_decode_total", "Steps of the model.", stats.steps);
  count("brink_model_step_tokens_total", "Tokens of all steps; by the steps, how many were decoded together.",
        stats.step_inputs);
  add(out, "brink_model_busy_seconds_total", "counter", "Time spent in steps.", stats.busy_seconds);
  count("brink_model_prompt_tokens_reused_total", "Prompt tokens whose evaluation an earlier request left behind.",
        stats.cached_tokens);
  count("brink_model_requests_total", "Requests taken.", stats.requests);
  count("brink_model_requests_refused_total", "Requests refused because the queue was full.", stats.refused);
  count("brink_model_requests_cancelled_total", "Requests whose client went before the end.", stats.cancelled);
  count("brink_model_requests_failed_total", "Requests that the model could not evaluate.", stats.failed);
  gauge("brink_model_sequences", "Requests that can be answered at a time.", shape.sequences);
  gauge("brink_model_context_tokens", "Tokens a request has room for, prompt and answer.", shape.context);
  return out;
}

}  // namespace brink::model
