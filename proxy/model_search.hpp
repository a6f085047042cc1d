// Reads ahead in a request body for its `model`, until it is found or the body ends, then lets the pipeline go on. What
// is read stays in the session for sending; the body limit of the candidate route bounds it.
#pragma once

#include <functional>

#include "proxy/http/run.hpp"
#include "router/model_scanner.hpp"

namespace brink {

class ModelSearch final : public http::Run {
 public:
  using Done = std::function<void(http::Client&, const ModelSearch&)>;
  ModelSearch(http::Client& client, Done done) : client_(client), done_(std::move(done)) {}
  void start() { on_body(); }

  bool found() const { return scanner_.state() == router::ModelScanner::State::found; }
  const router::ModelScanner& scanner() const { return scanner_; }

  void on_body() override;
  void on_drained() override {}
  void on_abandoned() override { abandoned_ = true; }

 private:
  http::Client& client_;
  Done done_;
  router::ModelScanner scanner_;
  bool abandoned_ = false;
};

}  // namespace brink
