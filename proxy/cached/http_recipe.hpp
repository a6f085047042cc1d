// What a backend's answer becomes under the rules of HTTP. Its worker's thread.
#pragma once

#include <string>
#include <vector>

#include "cache/http/storing.hpp"
#include "cache/http/validation.hpp"
#include "proxy/cached/recipe.hpp"
#include "proxy/cached/tiers.hpp"

namespace brink::cached {

class HttpRecipe final : public Recipe {
 public:
  // `cause`: the request, copied. `stale`: what the fetch validates, or nullptr.
  HttpRecipe(WorkerTiers& tiers, const http::Exchange& cause, std::string url, std::string primary,
             cache::EntryPtr stale);

  Opened on_head(const http::ResponseHead& head) override;
  bool on_piece(std::string_view) override { return true; }
  std::vector<cache::EntryPtr> make(std::string body) override;
  cache::EntryPtr on_failure(http::ErrorKind kind) override;

  // Puts an updated response in the place of the old one, or drops that. Returns it ready to be sent, or nullptr.
  static cache::EntryPtr store_updated(WorkerTiers& tiers, cache::http::Updated updated, const std::string& key);

 private:
  cache::http::Request request() const { return {method_, url_, fields_}; }
  cache::EntryPtr variants(const std::vector<std::string>& names) const;

  WorkerTiers& tiers_;
  const std::string method_;
  const std::string url_;
  const conf::RouteConfig& route_;  // of the pinned snapshot, which the fetch holds
  const std::string primary_;
  std::string text_;  // of the fields
  std::vector<cache::Field> fields_;
  const cache::EntryPtr stale_;
  const cache::WallTime asked_at_;
  boost::intrusive_ptr<cache::Entry> entry_;  // without its body yet
  std::vector<std::string> vary_;
};

}  // namespace brink::cached
