// What a model's answer becomes in the exact cache: only what is whole and succeeded. Its worker's thread.
#pragma once

#include <optional>
#include <string>

#include "cache/inference/recorder.hpp"
#include "cache/inference/request_key.hpp"
#include "conf/config.hpp"
#include "proxy/cached/recipe.hpp"
#include "proxy/http/exchange.hpp"

namespace brink::cached {

class ExactRecipe final : public Recipe {
 public:
  ExactRecipe(const http::Exchange& cause, std::string key, std::string url, const cache::inference::Facts& facts);

  Opened on_head(const http::ResponseHead& head) override;
  bool on_piece(std::string_view piece) override;
  std::vector<cache::EntryPtr> make(std::string body) override;
  cache::EntryPtr on_failure(http::ErrorKind) override { return nullptr; }

 private:
  const std::string key_;
  const std::string url_;
  const conf::RouteConfig& route_;  // of the pinned snapshot, which the fetch holds
  const cache::inference::Facts facts_;
  const conf::CacheConfig& config_;
  std::optional<cache::inference::StreamRecorder> recorder_;  // of an event stream
  boost::intrusive_ptr<cache::Entry> entry_;                  // without its body yet
};

}  // namespace brink::cached
