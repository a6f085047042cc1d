// One client connection: reads requests one after the other, offers each to the handler as a `Client`, writes the
// answers. A small object while it is idle; what a request needs (`Active`) is borrowed for as long as it lasts. Lives
// and dies on its worker's thread. Held by its pending operations and by its service's list.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <string>

#include "proxy/downstream/request_body.hpp"
#include "proxy/downstream/response_coding.hpp"
#include "proxy/http/run.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/net/outbox.hpp"
#include "proxy/net/socket.hpp"

namespace brink::downstream {

class Service;

// What a connection needs while it has a request.
struct Active {
  http::Exchange exchange;
  RequestBody body;
  net::Outbox out;
  boost::intrusive_ptr<http::Run> run;
  http::LocalReply reply;  // stands while it is written
  std::string head_out;    // the response's head and the framing before a piece; empty once it is written
  std::string tail_out;    // the framing after a piece
  ResponseCoding coding;
  std::string coded;                  // the piece that is being written, with a content coding
  char last_bytes[2] = {'\n', '\n'};  // of what an event stream sent, to know whether an event was cut
  net::Buffer next;                   // bytes read past this request
  std::size_t next_size = 0;
  net::Time body_deadline{};   // {}: not waiting for the body
  net::Time write_deadline{};  // {}: nothing to write
  bool want_body = false;
  bool continue_sent = false;
  bool keep_alive = false;  // as the response's head said
  bool chunked = false;     // the response's framing
  bool event_stream = false;
  bool finish_when_drained = false;
  bool abort_when_drained = false;
  bool write_armed = false;
  void reset();
};

class Http1Session final : public http::Client,
                           public boost::intrusive_ref_counter<Http1Session, boost::thread_unsafe_counter>,
                           public boost::intrusive::list_base_hook<> {
 public:
  Http1Session(Service& service, net::Socket::Native&& socket, std::string peer, bool trusted, bool tcp);
  ~Http1Session() override;
  void start();
  void close();
  // The service drains: an idle connection goes soon, a busy one after its answer.
  void drain();
  bool idle() const { return active_ == nullptr; }
  void on_readable(boost::system::error_code error);  // for the socket

  http::Exchange& exchange() override { return active_->exchange; }
  void set_run(boost::intrusive_ptr<http::Run> run) override;
  http::BodyView body() override { return active_->body.view(); }
  void consume_body(std::size_t size) override { active_->body.consume(size); }
  void want_body() override;
  bool rewind_body() override { return active_->body.rewind(); }
  std::string_view body_trailers() override { return active_->body.trailers(); }
  std::string_view unseen_body() override { return active_->body.unseen(); }
  bool body_complete() override { return active_->body.complete(); }
  std::string whole_body() override { return active_->body.copy(); }
  void set_body_limit(std::uint64_t bytes) override { active_->body.set_limit(bytes); }
  bool decode_body() override;
  http::BodyError body_error() override { return active_->body.error(); }
  bool interim(const http::ResponseHead& head) override;
  bool begin_response(const http::ResponseHead& head, std::string_view extra, std::uint64_t ready_zstd) override;
  bool send_body(std::string_view piece, bool last, std::string_view trailers) override;
  void break_response(http::ErrorKind kind, std::string_view detail) override;
  void finish() override;
  void abort() override;
  void reply(http::LocalReply reply) override;
  void fail(http::ErrorKind kind, std::string_view detail) override;
  bool switch_protocols(const http::ResponseHead& head) override;
  void shutdown_send() override;

 private:
  enum class State : std::uint8_t { idle, head, exchange, lingering, closed };

  bool will_keep_alive();
  // False: not all was taken, on_drained follows; `body` must stand until then.
  bool write(std::string_view head, std::string_view body, std::string_view tail);
  bool fail_later();  // false
  void arm_read();
  void arm_write();
  void on_writable(boost::system::error_code error);
  void on_timer();
  void rearm_timer();

  void read_head();
  void advance();    // parses and starts what is in the buffer, as often as there is a whole head
  bool parse_one();  // false: no whole head is there
  void open_exchange(bool started_now);
  void refuse_head(const http::ParseResult& result);
  void read_body();
  void take_leftover(const char* data, std::size_t size);
  void watch_for_reset();
  void watch();  // reads ahead while the exchange runs, to notice that the client left
  void discard_lingering();

  void client_gone(http::ErrorKind kind, std::string_view detail);
  void fail_from_here(http::ErrorKind kind, std::string_view detail);  // a fault the session found itself
  void end_exchange();                                                 // stop 14
  void become_idle();
  void linger();

  Service& service_;
  net::Socket socket_;
  net::Timer timer_;
  std::string peer_;
  net::Buffer in_;  // the head of the current request and what came with it
  std::size_t in_size_ = 0;
  std::unique_ptr<Active> active_;
  net::Time head_start_{};
  net::Time linger_until_{};
  State state_ = State::idle;
  bool trusted_ = false;
  bool read_armed_ = false;
  bool advancing_ = false;
  bool force_close_ = false;
  bool draining_ = false;
  bool error_armed_ = false;
  bool pipelined_ = false;  // the input was read while the request before was under way
};

}  // namespace brink::downstream
