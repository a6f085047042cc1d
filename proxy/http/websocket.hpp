// The opening handshake of RFC 6455, as far as a proxy has to judge it. Frames are not looked at: after the 101 bytes
// pass unaltered, so message boundaries, compression and close codes survive.
#pragma once

#include "proxy/http/errors.hpp"
#include "proxy/http/head.hpp"

namespace brink::http {

struct UpgradeCheck {
  bool websocket = false;             // the client asks for a WebSocket, and rightly
  ErrorKind error = ErrorKind::none;  // it asks wrongly: bad_upgrade or upgrade_required
  std::string_view what;
};

// Section 4.2.1. An upgrade to anything but websocket is no upgrade: the request goes on as plain HTTP without it
// (RFC 9110 section 7.8 lets a server ignore it).
UpgradeCheck check_upgrade(const RequestHead& head);

// Whether a backend's 101 accepts the upgrade that `request` asked for (section 4.1, points 2 to 4 of the client's
// checks): Upgrade, Connection and the Sec-WebSocket-Accept that belongs to the key.
bool accepts_upgrade(const RequestHead& request, const ResponseHead& response);

}  // namespace brink::http
