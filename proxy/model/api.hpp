// The paths of the server: reads a request, hands it to the model and writes what comes back, plain or as a stream of
// events. On the I/O thread, but for attach() and fail(), which the thread that loads the model calls.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "proxy/model/answer.hpp"
#include "proxy/model/engine.hpp"
#include "proxy/model/http_connection.hpp"
#include "proxy/model/request.hpp"
#include "proxy/model/scheduler.hpp"

namespace brink::model {

class Api {
 public:
  Api(boost::asio::io_context& context, std::string model);

  // From here on requests are answered; before, they are refused with 503 `loading`. Both outlive the context's run.
  void attach(const Engine& engine, Scheduler& scheduler);
  void serve(const HttpRequest& request, const std::shared_ptr<HttpConnection>& connection);

 private:
  using Connection = std::shared_ptr<HttpConnection>;

  void route(const HttpRequest& request, const Connection& connection);
  void chat(const std::string& body, const Connection& connection);
  void completion(const std::string& body, const Connection& connection);
  void embedding(const std::string& body, const Connection& connection);
  void generate(Generation generation, std::vector<Token> prompt, bool is_chat, const Connection& connection);
  void submit(const std::shared_ptr<Job>& job, const Connection& connection);
  std::vector<Token> tokens_of(const Prompt& prompt, const char* param, int most) const;
  void check_length(std::size_t tokens, const char* param, int most) const;

  boost::asio::io_context& context_;
  const std::string model_;
  const std::int64_t started_;
  std::atomic<bool> ready_ = false;
  const Engine* engine_ = nullptr;
  Scheduler* scheduler_ = nullptr;
};

}  // namespace brink::model
