// Stop 10: sends one request to a backend and its answer back. Picks an endpoint, takes or opens a connection, sends
// the request as it arrives, relays the response as it arrives, and after a 101 the bytes of both directions. Neither
// side is read while the other does not take, so at most one buffer a direction is held.
//
// Five files: dispatch.cpp chooses and connects, dispatch_send.cpp carries the request, dispatch_receive.cpp the
// answer, dispatch_retry.cpp decides what follows a failed attempt: another one, the cluster's fallback, or an error,
// dispatch_hedge.cpp asks a second endpoint when the first is late.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/chunked.hpp"
#include "proxy/http/run.hpp"
#include "proxy/upstream/worker_state.hpp"

namespace brink::upstream {

// Replaces bytes [begin, end) of the request body on its way, to rewrite the model's name.
struct BodyEdit {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string replacement;  // nothing is replaced while begin == end
  bool active() const { return end > begin; }
};

// What the complete answer with this status says about its endpoint.
router::Outcome outcome_of(unsigned status);
// The cluster has no answer, and another may have one. Faults of the request or of the client are not among these.
bool another_may_answer(http::ErrorKind kind);

class Dispatch final : public http::Run, public Connection::Owner, private Queue::Waiter {
 public:
  Dispatch(WorkerState& worker, http::Client& client, boost::intrusive_ptr<WorkerSnapshot> snapshot,
           std::uint32_t cluster, std::string path, bool websocket, BodyEdit edit);
  ~Dispatch() override;
  void start();

  void on_body() override;
  void on_drained() override;
  void on_abandoned() override;
  void on_connected(boost::system::error_code error) override;
  void on_upstream_readable() override;
  void on_upstream_writable() override;

 private:
  enum class Phase : std::uint8_t {
    waiting_body,
    queued,
    connecting,
    sending,
    awaiting_head,
    backing_off,
    relaying,
    tunnel,
    ended
  };
  using Flow = bool;  // false: nothing more to do now

  // dispatch.cpp
  void set_deadlines();
  bool enter_cluster();  // counts the request there
  void leave_cluster();  // after release: nothing of this run counts there any more
  void attempt();
  void attempt_at(std::uint32_t endpoint);
  bool is_first() const { return retries_ == 0 && excluded_.empty(); }  // attempt in this cluster
  router::PickInput pick_input(net::Time now) const { return {now, request_bytes(), excluded_}; }
  std::uint64_t request_bytes() const;
  bool may_queue() const;
  void enter_queue();
  void leave_queue();
  bool on_room() override;
  bool open_connection();
  void try_next_address(std::string_view why);
  void end_flight(net::Time now, router::Outcome outcome);
  void report(const std::optional<router::Outliers::Change>& change) const;
  void release(router::Outcome outcome);  // gives up the connection and the claim on the endpoint
  void fail(http::ErrorKind kind, std::string_view detail = {});
  void set_phase(Phase phase, net::Clock::duration limit, net::Time now = net::Clock::now());
  void arm_timer();
  void on_timer();
  void deadline_passed();
  net::Time deadline() const { return have_head_ ? total_deadline_ : head_deadline_; }
  const conf::TimeoutsConfig& timeouts() const { return client_.exchange().route->timeouts; }
  const conf::RetryConfig& retry_config() const { return client_.exchange().route->retry; }
  const WorkerCluster& cluster() const { return snapshot_->clusters[cluster_index_]; }

  // dispatch_retry.cpp
  void attempt_failed(http::ErrorKind kind, std::string_view detail);
  bool answered_badly();
  bool is_stale_connection(http::ErrorKind kind) const;
  bool repeatable() const;
  bool try_again(std::size_t reason);
  bool choose_again(bool& another);
  void back_off(std::chrono::milliseconds wait);
  bool fall_back(http::ErrorKind kind);
  void begin_again();  // nothing of the request counts as sent
  void let_go_of_answer();
  void note_back_pressure();

  // dispatch_hedge.cpp
  // An attempt that waits for its answer while another one is made.
  struct Parked final : Connection::Owner {
    explicit Parked(Dispatch& its_dispatch) : dispatch(its_dispatch) {}
    void on_connected(boost::system::error_code) override {}
    void on_upstream_readable() override { dispatch.on_parked_readable(); }
    void on_upstream_writable() override {}

    Dispatch& dispatch;
    std::uint32_t endpoint = 0;
    router::Flight flight;
    boost::intrusive_ptr<Connection> connection;
    net::Time sent{};
    net::Time deadline{};  // first_byte
    bool reused = false;
  };
  void arm_hedge();
  void on_late();
  void on_parked_readable();
  void take_parked_back();
  void drop_parked();

  // dispatch_send.cpp
  void begin_sending();
  void pump();
  void append_head(std::string& out);
  bool edit_body(http::BodyView& view, std::string& prefix);
  void sent();
  void sending_failed();

  // dispatch_receive.cpp
  void receive();
  bool gather();
  void end_if_ended();
  Flow parse_head();
  Flow on_interim();
  Flow on_switching();
  Flow on_final_head();
  void relay();
  void after_relay();
  void upstream_ended(const net::IoResult& result);
  void broken(http::ErrorKind kind, std::string_view detail);
  void finish_response();
  void finish_tunnel();
  void read_more();
  void begin_comments();
  void note_event_end(std::string_view piece);
  void send_comment(net::Time now);

  WorkerState& worker_;
  http::Client& client_;
  boost::intrusive_ptr<WorkerSnapshot> snapshot_;
  std::uint32_t cluster_index_;
  const std::string path_;
  const BodyEdit edit_;
  net::Timer timer_;
  net::Time total_deadline_{};
  net::Time head_deadline_{};  // not later
  net::Time phase_deadline_ = net::Time::max();
  Phase phase_ = Phase::waiting_body;

  // The attempt.
  std::vector<std::uint32_t> excluded_;                  // endpoints that failed this request
  std::string last_error_;                               // of the last attempt
  std::unique_ptr<boost::asio::steady_timer> back_off_;  // finer than the wheel; made by the first retry
  std::unique_ptr<Parked> parked_;                       // the first attempt, while a second one is made
  std::optional<Queue::Place> place_;                    // in the queue
  unsigned retries_ = 0;                                 // in this cluster
  std::uint32_t endpoint_index_ = 0;
  router::Flight flight_;
  boost::intrusive_ptr<Connection> connection_;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  bool admitted_ = false;     // counted in the cluster's requests
  unsigned fallbacks_ = 0;    // clusters that were left for the next one of the chain
  bool in_flight_ = false;    // the flight is to be ended
  bool fresh_only_ = false;   // the resend after a kept connection turned out closed
  bool asked_total_ = false;  // the client's own limits, not the route's
  bool asked_head_ = false;
  bool hedged_ = false;  // once a request
  bool websocket_ = false;

  // The request on its way out.
  std::uint64_t body_offset_ = 0;  // consumed of the original body
  std::size_t in_out_ = 0;         // bytes of the body in the outbox, consumed when they are gone
  std::string tail_out_;           // framing after the piece being sent
  bool last_in_out_ = false;
  bool head_sent_ = false;
  bool replaced_ = false;  // the edit's replacement is out
  bool request_chunked_ = false;
  bool request_sent_ = false;    // all of it (tunnel: the client's half is closed and passed on)
  bool request_broken_ = false;  // the backend takes no more; its answer may still come

  // The response on its way in.
  http::ResponseHead head_;
  http::ChunkedReader reader_;
  net::Buffer buffer_;
  std::size_t begin_ = 0;  // of what is read and not relayed
  std::size_t end_ = 0;
  std::optional<net::IoResult> ended_;  // how the backend's bytes ended, while some are on their way to the client
  std::uint64_t remaining_ = 0;
  unsigned interim_ = 0;
  bool have_head_ = false;
  bool head_pending_ = false;  // parsed, and to go out with the first piece
  bool paused_ = false;        // the client has not taken the last piece
  bool response_done_ = false;
  bool leftover_ = false;  // the backend sent more than its message

  // Comments in an event stream that is silent.
  net::Time comment_deadline_ = net::Time::max();
  std::string last_sent_;  // the last bytes that went on, to know where an event ends
};

}  // namespace brink::upstream
