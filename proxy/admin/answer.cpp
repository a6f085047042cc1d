#include "proxy/admin/answer.hpp"

namespace brink::admin {
namespace {

class BodyFirst final : public http::Run {
 public:
  BodyFirst(const Admin& admin, http::Client& client) : admin_(admin), client_(client) {}

  void on_body() override {
    const boost::intrusive_ptr<BodyFirst> self(this);
    if (over_) return;
    if (client_.body_complete()) {
      over_ = true;
      return client_.reply(admin_.handle(client_.exchange().head, client_.whole_body()));
    }
    while (!client_.unseen_body().empty()) {
    }
    client_.want_body();
  }
  void on_drained() override {}
  void on_abandoned() override { over_ = true; }

 private:
  const Admin& admin_;
  http::Client& client_;
  bool over_ = false;
};

}  // namespace

void answer(const Admin& admin, http::Client& client) {
  const http::RequestHead& head = client.exchange().head;
  if (!admin.takes_body(head)) return client.reply(admin.handle(head, {}));
  client.set_body_limit(max_body);
  if (client.body_error() == http::BodyError::too_large) return client.fail(http::ErrorKind::body_too_large);
  const boost::intrusive_ptr<BodyFirst> run(new BodyFirst(admin, client));
  client.set_run(run);
  run->on_body();
}

}  // namespace brink::admin
