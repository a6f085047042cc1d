#include "proxy/model_search.hpp"

namespace brink {

void ModelSearch::on_body() {
  const boost::intrusive_ptr<ModelSearch> self(this);
  if (abandoned_) return;
  for (std::string_view piece = client_.unseen_body(); !piece.empty(); piece = client_.unseen_body()) {
    scanner_.feed(piece);
  }
  if (client_.body_complete()) scanner_.finish();
  if (scanner_.state() == router::ModelScanner::State::searching) return client_.want_body();
  done_(client_, *this);
}

}  // namespace brink
