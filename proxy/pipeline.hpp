// The way of a request through Brink, stops 5 to 14, told in pipeline.cpp. One for each worker.
#pragma once

#include "proxy/cached/fetch.hpp"
#include "proxy/http/run.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/upstream/dispatch.hpp"
#include "proxy/upstream/worker_state.hpp"
#include "router/route_table.hpp"

namespace brink {

class ModelSearch;

class Pipeline final : public http::Handler, public cached::Forwarder {
 public:
  Pipeline(upstream::WorkerState& upstream, cached::WorkerTiers& tiers, observe::AccessLogBuffer& log)
      : upstream_(upstream), tiers_(tiers), log_(log) {}
  void handle(http::Client& client) override;
  void responding(const http::Exchange& exchange, const http::ResponseHead& head) override;
  void finished(http::Exchange& exchange) override;

 private:
  friend class ModelSearch;
  void match_route(http::Client& client, const ModelSearch* model);
  void take_route(http::Client& client, const router::Match& match, const ModelSearch* model);
  void forward(http::Client& client, std::uint32_t route) override;
  bool look_into_cache(http::Client& client, std::uint32_t route, const ModelSearch* model);
  void dispatch(http::Client& client, std::uint32_t route, upstream::BodyEdit edit, bool websocket);
  static upstream::WorkerSnapshot& pinned(const http::Exchange& exchange);

  upstream::WorkerState& upstream_;
  cached::WorkerTiers& tiers_;
  observe::AccessLogBuffer& log_;
};

}  // namespace brink
