// The cache of HTTP (RFC 9111) for one request. The rules are in cache/http; here they are put to work.
#pragma once

#include <string>
#include <vector>

#include "cache/http/cache_status.hpp"
#include "cache/http/using.hpp"
#include "proxy/cached/cached_run.hpp"

namespace brink::cached {

class HttpRun final : public CachedRun {
 public:
  using CachedRun::CachedRun;
  void start() override;

  // What the response to a request that went past the cache does to what is stored (RFC 9111 sections 4.3.5 and 4.4).
  // To be called before the response goes on to the client.
  static void observe(WorkerTiers& tiers, const http::Exchange& exchange, const http::ResponseHead& response);

 private:
  void found(cache::EntryPtr entry) override;
  std::unique_ptr<Recipe> recipe() override;
  Fetch::Order order() override;
  void answer(const cache::EntryPtr& entry, bool collapsed) override;
  bool matches(const cache::Entry& head) override;
  std::string lines_for_fetched(bool collapsed, bool stored) override;
  const std::string& first_key() const override { return primary_; }
  void look_again() override;

  void decide(const cache::EntryPtr& entry);
  void nothing_stored(cache::http::Forward why);
  void fetch();
  void serve(const cache::EntryPtr& entry, cache::http::CacheStatus status);
  void refuse();
  cache::http::Request request() const;
  const std::string& flight_key() const;

  std::string url_;
  std::string primary_;  // key of what the URL alone selects
  std::vector<cache::Field> fields_;
  std::vector<std::string> candidates_;  // keys of variants to look up, the next one last
  std::string newest_variant_;           // where an answer is expected, if it is one of several
  bool looking_at_variants_ = false;
  cache::EntryPtr stale_;  // to be validated
  cache::http::Forward forward_ = cache::http::Forward::none;
};

}  // namespace brink::cached
