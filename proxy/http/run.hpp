// The two sides of an exchange and how they hand bytes to each other. `Client` is what a session offers, `Run` is what
// produces the answer: forwarding to a backend, or a reply of the edge. Demand is the back-pressure: who does not ask
// gets nothing. All calls on the worker's thread.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <string_view>

#include "proxy/http/exchange.hpp"
#include "proxy/http/local_reply.hpp"

namespace brink::http {

// Produces the response of one exchange. A method may end the run (Client::finish, Client::abort); it then touches
// nothing of itself afterwards but what an own reference keeps alive.
class Run : public boost::intrusive_ref_counter<Run, boost::thread_unsafe_counter> {
 public:
  virtual ~Run() = default;
  virtual void on_body() = 0;     // after want_body: more of the request body is there, or its end
  virtual void on_drained() = 0;  // after a write that was not taken whole: now it is
  virtual void
  on_abandoned() = 0;  // the client is gone or the session gave up: free the backend at once. The last call
};

// The request body as far as it is here: decoded, without chunk framing.
struct BodyView {
  std::string_view data;  // the contiguous front of it; more may follow it without waiting
  bool last = false;      // nothing follows `data`
};

enum class BodyError : std::uint8_t { none, malformed, too_large, undecodable };

class Client {
 public:
  virtual ~Client() = default;
  virtual Exchange& exchange() = 0;
  // Replaces who answers. The session calls the new run from now on.
  virtual void set_run(boost::intrusive_ptr<Run> run) = 0;

  // The request body.
  virtual BodyView body() = 0;
  virtual void consume_body(std::size_t size) = 0;
  // Reads more; on_body follows, never from inside this call. Sends 100 (Continue) first if the client waits for it.
  virtual void want_body() = 0;
  // Keep what is consumed, so that rewind_body can start it again; false once some of it is gone.
  virtual bool rewind_body() = 0;
  virtual std::string_view body_trailers() = 0;  // with last; field lines, each with CRLF
  // Peek mode, for reading the body before deciding where it goes: the bytes past those seen. Feeding on what arrives
  // without consuming it; the session buffers up to the body limit.
  virtual std::string_view unseen_body() = 0;  // the next unseen contiguous piece; it then counts as seen
  virtual bool body_complete() = 0;            // the whole body has arrived
  virtual std::string whole_body() = 0;        // a copy; REQUIRES: body_complete(), and nothing was consumed
  virtual void set_body_limit(std::uint64_t bytes) = 0;
  // From here on the body is what its content codings (RFC 9110 section 8.4) hide, and the request's head says so. To
  // be called before anything of it is looked at. False: there are codings that cannot be taken off.
  virtual bool decode_body() = 0;
  virtual BodyError body_error() = 0;  // after set_body_limit: too_large if what is announced or here exceeds it

  // The response of a backend or of the cache, in this order: interim ones, the final head, the body in pieces.
  // False from one that sends: it was not taken whole, on_drained follows, and the piece's bytes must stand until then.
  virtual bool interim(const ResponseHead& head) = 0;  // a 1xx but 101
  // The head goes out with the body's first piece, which may be empty. `extra`: further field lines, each with CRLF.
  // The head says how the body that follows is delimited; the client's framing may be another. `ready_zstd`: bytes of
  // the same body as a zstd frame, if the caller has that; true: send it instead.
  virtual bool begin_response(const ResponseHead& head, std::string_view extra = {}, std::uint64_t ready_zstd = 0) = 0;
  virtual bool send_body(std::string_view piece, bool last = false, std::string_view trailers = {}) = 0;
  virtual void finish() = 0;  // the response is complete and drained
  // It cannot be completed. Before its head is out: an error reply. Afterwards the connection breaks, so that nobody
  // takes the response for whole; the reader of an event stream is told why first.
  virtual void break_response(ErrorKind kind, std::string_view detail) = 0;
  virtual void abort() = 0;                  // breaks the connection
  virtual void reply(LocalReply reply) = 0;  // a response of the edge, then finish
  virtual void fail(ErrorKind kind,
                    std::string_view detail = {}) = 0;  // the reply for it if none has begun, else abort

  // A 101. From now on the request body is whatever the client sends, its end the client's half-close, and the
  // response's body what the other side sends. Returns what send_body does.
  virtual bool switch_protocols(const ResponseHead& head) = 0;
  virtual void shutdown_send() = 0;  // the tunnel's other side has sent all
};

// Decides what answers an exchange.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(Client& client) = 0;
  // Before the head of a response is sent, where Exchange::watched says that somebody wants to know.
  virtual void responding(const Exchange&, const ResponseHead&) {}
  virtual void finished(Exchange& exchange) = 0;  // stop 14, exactly once for each handled exchange
};

}  // namespace brink::http
