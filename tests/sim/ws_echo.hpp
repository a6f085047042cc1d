// /v1/realtime: a WebSocket (RFC 6455) that sends every message back as it came, text as text and binary as binary,
// with permessage-deflate (RFC 7692) when offered. `realtime` is chosen when it is among the offered subprotocols. The
// peer's close is answered with its own code. One thread.
#pragma once

#include "tests/sim/context.hpp"
#include "tests/sim/net.hpp"

namespace brink::sim {

// REQUIRES: an upgrade request whose bytes have all been read, nothing else on the socket. The context outlives it.
void start_echo(Socket socket, Request request, Context& context);

}  // namespace brink::sim
