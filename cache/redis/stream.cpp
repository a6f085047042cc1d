#include "cache/redis/stream.hpp"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace brink::cache::redis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// An address as it is, a name by the resolver of Asio, whose thread does the waiting. The endpoints start with another
// one at each attempt: the first may be dead.
class TcpConnector {
 public:
  TcpConnector(asio::io_context& context, Node node) : socket(context), resolver_(context), node_(std::move(node)) {}

  void connect(unsigned attempt, Stream::Done done) {
    error_code error;
    const auto address = asio::ip::make_address(node_.host, error);
    if (!error) {
      endpoints_ = {tcp::endpoint(address, node_.port)};
      return try_endpoints(std::move(done));
    }
    resolver_.async_resolve(node_.host, std::to_string(node_.port), tcp::resolver::numeric_service,
                            [this, attempt, done = std::move(done)](const error_code& failed, const auto& results) {
                              if (failed || closed_) return done(failed ? failed : asio::error::operation_aborted, 0);
                              endpoints_.assign(results.begin(), results.end());
                              const auto shift = static_cast<std::ptrdiff_t>(attempt % endpoints_.size());
                              std::rotate(endpoints_.begin(), endpoints_.begin() + shift, endpoints_.end());
                              try_endpoints(done);
                            });
  }

  void close() {
    closed_ = true;
    error_code ignored;
    resolver_.cancel();
    socket.close(ignored);
  }

  tcp::socket socket;

 private:
  void try_endpoints(Stream::Done done) {
    asio::async_connect(socket, endpoints_,
                        [this, done = std::move(done)](const error_code& error, const tcp::endpoint&) {
                          error_code ignored;  // a socket that already died shows it at the first read
                          if (!error) socket.set_option(tcp::no_delay(true), ignored);
                          if (!error) socket.set_option(asio::socket_base::keep_alive(true), ignored);
                          done(!error && closed_ ? asio::error::operation_aborted : error, 0);
                        });
  }

  tcp::resolver resolver_;
  std::vector<tcp::endpoint> endpoints_;
  const Node node_;
  bool closed_ = false;
};

class TcpStream : public Stream {
 public:
  TcpStream(asio::io_context& context, const Node& node) : tcp_(context, node) {}
  void connect(unsigned attempt, Done done) override { tcp_.connect(attempt, std::move(done)); }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    tcp_.socket.async_read_some(buffer, std::move(done));
  }
  void write(asio::const_buffer bytes, Done done) override { asio::async_write(tcp_.socket, bytes, std::move(done)); }
  void close() override { tcp_.close(); }

 private:
  TcpConnector tcp_;
};

class UnixStream : public Stream {
 public:
  UnixStream(asio::io_context& context, Node node) : socket_(context), node_(std::move(node)) {}
  void connect(unsigned /*attempt*/, Done done) override {
    socket_.async_connect(asio::local::stream_protocol::endpoint(node_.host),
                          [done = std::move(done)](const error_code& error) { done(error, 0); });
  }
  void read_some(asio::mutable_buffer buffer, Done done) override { socket_.async_read_some(buffer, std::move(done)); }
  void write(asio::const_buffer bytes, Done done) override { asio::async_write(socket_, bytes, std::move(done)); }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  asio::local::stream_protocol::socket socket_;
  const Node node_;
};

class TlsStream : public Stream {
 public:
  TlsStream(asio::io_context& context, const Node& node, TlsContext tls, bool insecure)
      : tcp_(context, node), tls_(std::move(tls)), stream_(tcp_.socket, *tls_), host_(node.host), insecure_(insecure) {}

  void connect(unsigned attempt, Done done) override {
    tcp_.connect(attempt, [this, done = std::move(done)](const error_code& error, std::size_t) {
      if (error) return done(error, 0);
      handshake(done);
    });
  }
  void read_some(asio::mutable_buffer buffer, Done done) override { stream_.async_read_some(buffer, std::move(done)); }
  void write(asio::const_buffer bytes, Done done) override { asio::async_write(stream_, bytes, std::move(done)); }
  void close() override { tcp_.close(); }  // without close_notify: replies have lengths

 private:
  void handshake(const Done& done) {
    error_code not_address;
    asio::ip::make_address(host_, not_address);
    // RFC 6066 section 3: no addresses in the server name.
    if (not_address) SSL_set_tlsext_host_name(stream_.native_handle(), host_.c_str());
    if (!insecure_) stream_.set_verify_callback(asio::ssl::host_name_verification(host_));
    stream_.async_handshake(asio::ssl::stream_base::client, [done](const error_code& error) { done(error, 0); });
  }

  TcpConnector tcp_;
  const TlsContext tls_;
  asio::ssl::stream<tcp::socket&> stream_;
  const std::string host_;
  const bool insecure_;
};

}  // namespace

TlsContext make_tls_context(const Options& options) {
  if (!options.tls) return nullptr;
  auto made = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  error_code error;
  SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
  made->set_verify_mode(options.insecure ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (!error && !options.ca_file.empty()) made->load_verify_file(options.ca_file, error);
  if (!error && options.ca_file.empty()) made->set_default_verify_paths(error);
  if (error) throw std::runtime_error("Redis: cannot read CA file \"" + options.ca_file + "\": " + error.message());
  return made;
}

std::unique_ptr<Stream> Stream::make(asio::io_context& context, const Node& node, const TlsContext& tls,
                                     bool insecure) {
  if (node.is_unix()) return std::make_unique<UnixStream>(context, node);
  if (tls) return std::make_unique<TlsStream>(context, node, tls, insecure);
  return std::make_unique<TcpStream>(context, node);
}

}  // namespace brink::cache::redis
