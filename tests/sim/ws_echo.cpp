#include "tests/sim/ws_echo.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace brink::sim {
namespace {

namespace websocket = beast::websocket;

constexpr std::size_t max_message = 64U << 20;
constexpr asio::use_awaitable_t<Executor> use_awaitable;

struct OpenCount {
  explicit OpenCount(Context& shared) : context(shared) {
    ++context.counters.websockets;
    ++context.gauges.open_websockets;
  }
  ~OpenCount() { --context.gauges.open_websockets; }
  OpenCount(const OpenCount&) = delete;
  OpenCount& operator=(const OpenCount&) = delete;
  Context& context;
};

void configure(websocket::stream<Socket>& stream, const Request& request, const Context& context) {
  websocket::permessage_deflate deflate;
  deflate.server_enable = true;
  stream.set_option(deflate);
  // Beast's own time limits need its own stream type; the peer's connection ends it.
  stream.read_message_max(max_message);
  const bool realtime = http::token_list{request[http::field::sec_websocket_protocol]}.exists("realtime");
  stream.set_option(websocket::stream_base::decorator([&context, realtime](websocket::response_type& response) {
    response.set("x-sim-node", context.config.name);
    if (realtime) response.set(http::field::sec_websocket_protocol, "realtime");
  }));
}

asio::awaitable<void, Executor> echo(Socket socket, Request request, Context& context) {
  websocket::stream<Socket> stream(std::move(socket));
  configure(stream, request, context);
  error_code ec;
  co_await stream.async_accept(request, asio::redirect_error(use_awaitable, ec));
  if (ec) co_return;  // a bad handshake: Beast has answered it
  const OpenCount count(context);
  beast::flat_buffer buffer;
  for (;;) {
    co_await stream.async_read(buffer, asio::redirect_error(use_awaitable, ec));
    if (ec) co_return;  // closed by the peer, properly or not; Beast has answered a close frame
    stream.binary(stream.got_binary());
    co_await stream.async_write(buffer.data(), asio::redirect_error(use_awaitable, ec));
    if (ec) co_return;
    buffer.clear();
    if (buffer.capacity() > (1U << 16)) buffer.shrink_to_fit();
  }
}

}  // namespace

void start_echo(Socket socket, Request request, Context& context) {
  asio::co_spawn(context.io.get_executor(), echo(std::move(socket), std::move(request), context),
                 [](const std::exception_ptr& error) {
                   if (error) std::rethrow_exception(error);
                 });
}

}  // namespace brink::sim
