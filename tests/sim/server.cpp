#include "tests/sim/server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "tests/sim/session.hpp"

namespace brink::sim {
namespace {

using asio::ip::tcp;
using LocalSocket = asio::local::stream_protocol;

tcp::endpoint parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port_text = colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (port_text.empty() || error != std::errc{} || end != port_text.data() + port_text.size()) {
    throw std::invalid_argument("--listen " + text + ": expected ADDRESS:PORT, such as 127.0.0.1:0");
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  if (ec) throw std::invalid_argument("--listen " + text + ": '" + host + "' is no IP address");
  return {address, port};
}

// Says which listener a system error belongs to.
template <class Listen>
void located(const std::string& where, const Listen& listen) {
  try {
    listen();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error(where + ": " + error.code().message());
  }
}

}  // namespace

Server::Server(asio::io_context& io, ServerConfig config) : context_(io, std::move(config)), retry_(io) {
  if (context_.config.models.empty()) throw std::invalid_argument("at least one model must be served");
  context_.driver.cold_start(context_.config.cold_factor, context_.config.cold_for);
  const std::string& address = context_.config.listen;
  const std::string& path = context_.config.unix_path;
  if (!address.empty()) located("--listen " + address, [&] { listen_tcp(address); });
  if (!path.empty()) located("--unix " + path, [&] { listen_unix(path); });
}

Server::~Server() {
  if (unix_) ::unlink(context_.config.unix_path.c_str());
}

std::string Server::tcp_address() const {
  std::ostringstream text;
  text << tcp_->local_endpoint();
  return text.str();
}

std::uint16_t Server::port() const { return tcp_->local_endpoint().port(); }

void Server::listen_tcp(const std::string& address) {
  const tcp::endpoint endpoint = parse_address(address);
  tcp_.emplace(context_.io, endpoint);  // with SO_REUSEADDR, Asio's default for an acceptor
  accept(*tcp_);
}

void Server::listen_unix(const std::string& path) {
  struct stat info {};
  // A socket that a killed simulator left behind; anything else in the way stays, and bind says so.
  if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) ::unlink(path.c_str());
  unix_.emplace(context_.io, LocalSocket::endpoint(path));
  accept(*unix_);
}

template <class Protocol>
void Server::accept(Acceptor<Protocol>& acceptor) {
  using Peer = asio::basic_stream_socket<Protocol, Executor>;
  acceptor.async_accept(context_.io.get_executor(), [this, &acceptor](error_code ec, Peer peer) {
    if (ec == asio::error::operation_aborted) return;
    if (ec) {
      std::cerr << "gpu-sim: accept: " << ec.message() << "; trying again in 100 ms" << std::endl;
      retry_.expires_after(std::chrono::milliseconds(100));
      retry_.async_wait([this, &acceptor](error_code) { accept(acceptor); });
      return;
    }
    if constexpr (std::is_same_v<Protocol, tcp>) {
      error_code ignored;  // the peer may have left already
      peer.set_option(tcp::no_delay(true), ignored);
    }
    std::make_shared<Session>(Socket(std::move(peer)), context_)->start();
    accept(acceptor);
  });
}

}  // namespace brink::sim
