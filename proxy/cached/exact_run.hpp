// The exact cache for one JSON request to a model: the same effective request gets the same answer, streamed or plain.
// The rules are in cache/inference.
#pragma once

#include <string>

#include "cache/http/cache_control.hpp"
#include "cache/inference/convert.hpp"
#include "cache/inference/request_key.hpp"
#include "proxy/cached/cached_run.hpp"
#include "proxy/upstream/dispatch.hpp"

namespace brink::cached {

class ExactRun final : public CachedRun {
 public:
  // `path`: with which path the request goes to the backend. `edit`: what happens to its body on the way.
  ExactRun(WorkerTiers& tiers, Forwarder& forwarder, http::Client& client, std::uint32_t route, Alone alone,
           std::string path, upstream::BodyEdit edit);
  void start() override;
  void on_body() override;

 private:
  void found(cache::EntryPtr entry) override;
  std::unique_ptr<Recipe> recipe() override;
  Fetch::Order order() override;
  void answer(const cache::EntryPtr& entry, bool collapsed) override;
  std::string lines_for_fetched(bool collapsed, bool stored) override;
  const std::string& first_key() const override { return key_; }
  void look_again() override { look_up(key_); }

  void look();
  bool serve(const cache::EntryPtr& entry, bool hit, bool collapsed);
  void refused(const char* why);
  void fetch();

  const std::string path_;
  const upstream::BodyEdit edit_;
  std::string body_;  // the effective one, once it is complete
  bool collecting_ = true;
  cache::http::RequestDirectives directives_;
  cache::inference::Keyed keyed_;
  std::string key_;
};

}  // namespace brink::cached
