#include "proxy/model/answer_writer.hpp"

namespace brink::model {

void AnswerWriter::take(const Delivery& delivery) { stream_ ? pass_on(delivery) : gather(delivery); }

void AnswerWriter::gather(const Delivery& delivery) {
  text_ += delivery.text;
  if (!delivery.last()) return;
  if (!delivery.error.empty()) {
    const ApiError error(delivery.error, {}, "model_failed", 500);
    connection_->reply(error.status, "application/json", error_body(error));
  } else {
    connection_->reply(200, "application/json", whole_answer(head_, text_, delivery.finish, delivery.usage));
  }
}

void AnswerWriter::pass_on(const Delivery& delivery) {
  if (!begun_ && !delivery.error.empty()) {
    gather(delivery);
    return;
  }
  if (!begun_) {
    begun_ = true;
    connection_->begin_events();
    if (head_.chat) connection_->event(first_chunk(head_));
  }
  if (!delivery.text.empty()) connection_->event(text_chunk(head_, delivery.text));
  if (!delivery.error.empty()) {
    connection_->event(error_body(ApiError(delivery.error, {}, "model_failed", 500)));
    connection_->break_off();
  } else if (delivery.last()) {
    connection_->event(finish_chunk(head_, delivery.finish));
    if (head_.include_usage) connection_->event(usage_chunk(head_, delivery.usage));
    connection_->event("[DONE]");
    connection_->end_events();
  }
}

}  // namespace brink::model
