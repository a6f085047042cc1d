#include "proxy/model/http_listener.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace brink::model {

namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;
using Error = boost::system::error_code;
using namespace std::chrono_literals;

[[noreturn]] void fail(const std::string& address, const std::string& why) {
  throw std::runtime_error("cannot listen on " + address + ": " + why);
}

Tcp::endpoint tcp_endpoint(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  unsigned short port = 0;
  const char* begin = address.data() + (colon == std::string::npos ? 0 : colon + 1);
  const char* end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(begin, end, port);
  if (colon == std::string::npos || error != std::errc{} || stop != end) {
    fail(address, "it is neither unix:PATH nor HOST:PORT");
  }
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  Error bad;
  const asio::ip::address ip = asio::ip::make_address(host, bad);
  if (bad || !ip.is_loopback()) fail(address, "only loopback addresses and Unix sockets are served");
  return {ip, port};
}

// True if somebody accepts connections there.
bool is_served(const Local::endpoint& endpoint) {
  asio::io_context context;
  Local::socket socket(context);
  Error error;
  socket.connect(endpoint, error);
  return !error;
}

}  // namespace

struct HttpListener::State {
  State(asio::io_context& loop, HttpConnection::Handler serve)
      : context(loop), handler(std::move(serve)), tcp(loop), local(loop), pause(loop) {}

  void listen(const Tcp::endpoint& endpoint) {
    tcp.open(endpoint.protocol());
    tcp.set_option(Tcp::acceptor::reuse_address(true));
    tcp.bind(endpoint);
    tcp.listen();
    const Tcp::endpoint bound = tcp.local_endpoint();
    const std::string host = bound.address().to_string();
    name = (bound.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(bound.port());
  }

  void listen(const std::string& file) {
    const Local::endpoint endpoint(file);
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0) {
      if (!S_ISSOCK(status.st_mode)) fail(name, "there is a file of that name that is no socket");
      if (is_served(endpoint)) fail(name, "another process serves it");
      ::unlink(file.c_str());
    }
    local.open();
    const mode_t before = ::umask(0177);  // no other thread runs yet
    Error error;
    local.bind(endpoint, error);
    ::umask(before);
    if (error) fail(name, error.message());
    local.listen();
    path = file;
  }

  template <typename Acceptor>
  void accept(Acceptor& acceptor) {
    acceptor.async_accept(context, [this, &acceptor](Error error, typename Acceptor::protocol_type::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error || *open >= max_connections) {
        // Out of descriptors, or of connections: this one is turned away, and the kernel's queue holds the rest for a
        // moment.
        socket.close(error);
        pause.expires_after(20ms);
        pause.async_wait([this, &acceptor](Error stopped) {
          if (!stopped) accept(acceptor);
        });
        return;
      }
      start(std::move(socket));
      accept(acceptor);
    });
  }

  template <typename Socket>
  void start(Socket&& socket) {
    if constexpr (std::is_same_v<std::decay_t<Socket>, Tcp::socket>) {
      Error ignored;
      socket.set_option(Tcp::no_delay(true), ignored);
    }
    ++*open;
    // Counted as long as anything holds it.
    std::shared_ptr<HttpConnection> connection(new HttpConnection(std::forward<Socket>(socket), handler),
                                               [count = open](HttpConnection* ended) {
                                                 delete ended;
                                                 --*count;
                                               });
    connection->start();
  }

  asio::io_context& context;
  HttpConnection::Handler handler;
  Tcp::acceptor tcp;
  Local::acceptor local;
  asio::steady_timer pause;
  std::shared_ptr<std::size_t> open = std::make_shared<std::size_t>(0);  // connections; the last may outlive us
  std::string name;
  std::string path;
};

HttpListener::HttpListener(asio::io_context& context, const std::string& address, HttpConnection::Handler handler)
    : state_(std::make_unique<State>(context, std::move(handler))) {
  state_->name = address;
  try {
    if (address.starts_with("unix:")) {
      state_->listen(address.substr(5));
      state_->accept(state_->local);
    } else {
      state_->listen(tcp_endpoint(address));
      state_->accept(state_->tcp);
    }
  } catch (const boost::system::system_error& error) {
    fail(address, error.code().message());
  }
}

HttpListener::~HttpListener() {
  if (!state_->path.empty()) ::unlink(state_->path.c_str());
}

const std::string& HttpListener::address() const { return state_->name; }
const std::string& HttpListener::unix_path() const { return state_->path; }

}  // namespace brink::model
