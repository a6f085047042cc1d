// Writes one generation's deliveries to its client: gathered into one answer, or as the events of a stream. On the I/O
// thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proxy/model/answer.hpp"
#include "proxy/model/http_connection.hpp"
#include "proxy/model/job.hpp"

namespace brink::model {

class AnswerWriter {
 public:
  AnswerWriter(AnswerHead head, bool stream, std::shared_ptr<HttpConnection> connection)
      : head_(std::move(head)), stream_(stream), connection_(std::move(connection)) {}

  void take(const Delivery& delivery);

 private:
  void gather(const Delivery& delivery);
  void pass_on(const Delivery& delivery);

  AnswerHead head_;
  bool stream_;
  bool begun_ = false;
  std::shared_ptr<HttpConnection> connection_;
  std::string text_;
};

}  // namespace brink::model
