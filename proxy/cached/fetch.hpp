// One backend call on behalf of the cache. To the forwarding run it is the client; what it gets goes to all who follow
// its flight, and into the cache as its recipe says. It has its own copy of the request, so it outlives the client that
// caused it as long as others follow. Its worker's thread.
#pragma once

#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "cache/flight/flight.hpp"
#include "proxy/cached/recipe.hpp"
#include "proxy/cached/tiers.hpp"
#include "proxy/http/run.hpp"

namespace brink::cached {

// Who sends a request to a backend: the pipeline.
class Forwarder {
 public:
  virtual ~Forwarder() = default;
  // Stops 9 and 10 for an exchange whose route is known. `route`: its index in the pinned snapshot.
  virtual void forward(http::Client& client, std::uint32_t route) = 0;
};

// The first line of a call that is made for `head`, with its CRLF.
std::string request_line(const http::RequestHead& head);

class Fetch final : public http::Client, public boost::intrusive_ref_counter<Fetch, boost::thread_unsafe_counter> {
 public:
  struct Order {
    std::string head;  // the request, from its request line to its empty line, framing included
    std::string body;
    std::uint64_t max_object = 0;
    bool background = false;                 // goes on without followers, as long as it is for the cache
    std::chrono::milliseconds alone_for{0};  // how long to remember that the answer cannot be shared
  };
  // `cause`: the exchange that needs it; its identity and route are taken over.
  Fetch(WorkerTiers& tiers, cache::FlightPtr flight, std::unique_ptr<Recipe> recipe, Order order,
        const http::Exchange& cause);
  ~Fetch() override;
  void start(Forwarder& forwarder, std::uint32_t route);
  void cancel();

  http::Exchange& exchange() override { return exchange_; }
  void set_run(boost::intrusive_ptr<http::Run> run) override { run_ = std::move(run); }
  http::BodyView body() override { return {std::string_view(order_.body).substr(taken_), true}; }
  void consume_body(std::size_t size) override { taken_ += size; }
  void want_body() override {}
  bool rewind_body() override;
  std::string_view body_trailers() override { return {}; }
  std::string_view unseen_body() override { return {}; }
  bool body_complete() override { return true; }
  std::string whole_body() override { return order_.body; }
  void set_body_limit(std::uint64_t) override {}
  bool decode_body() override { return false; }
  http::BodyError body_error() override { return http::BodyError::none; }

  bool interim(const http::ResponseHead&) override { return true; }
  bool begin_response(const http::ResponseHead& head, std::string_view extra, std::uint64_t ready_zstd) override;
  bool send_body(std::string_view piece, bool last, std::string_view trailers) override;
  void finish() override;
  void break_response(http::ErrorKind kind, std::string_view detail) override { fail(kind, detail); }
  void abort() override { fail(http::ErrorKind::internal, "aborted"); }
  void reply(http::LocalReply reply) override;
  void fail(http::ErrorKind kind, std::string_view detail) override;
  bool switch_protocols(const http::ResponseHead&) override;
  void shutdown_send() override {}

 private:
  void on_woken();
  void fail_followers(http::ErrorKind kind, std::string_view detail);
  void stop_storing();
  void unlist();
  void end();  // nobody hears of it any more

  WorkerTiers& tiers_;
  cache::FlightPtr flight_;
  cache::WakerPtr waker_;
  std::unique_ptr<Recipe> recipe_;
  Order order_;
  http::Exchange exchange_;
  std::string peer_;
  std::string client_;
  boost::intrusive_ptr<http::Run> run_;
  std::size_t taken_ = 0;
  cache::WallTime asked_at_;
  std::vector<cache::Piece> pieces_;  // of an answer that may be stored; in the budget of all flights
  std::size_t size_ = 0;              // bytes of them
  std::string trailers_;
  bool storing_ = false;
  bool listed_ = true;    // others may find the flight
  bool settled_ = false;  // the flight has its outcome; what still comes is disregarded
  bool paused_ = false;
  bool registered_ = false;  // in the worker's list, at `place_`
  std::list<boost::intrusive_ptr<Fetch>>::iterator place_;
};

}  // namespace brink::cached
