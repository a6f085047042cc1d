// Where Redis is and how long Brink is ready to wait for it. Plain values: filled by whoever reads the configuration,
// read by any thread once filled.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace brink::cache::redis {

struct Node {
  std::string host;        // a name, or an address without brackets; the path of a Unix socket where `port` is 0
  std::uint16_t port = 0;  // 0: a Unix socket
  bool is_unix() const { return port == 0; }
  std::string text() const;  // host:port, [v6]:port or the path: for log lines, and to know nodes apart
  bool operator==(const Node&) const = default;
};

struct Options {
  enum class Mode : std::uint8_t { single, cluster, sentinel };

  Mode mode = Mode::single;
  // single: the server, the first counts. cluster: nodes to ask for the map. sentinel: the sentinels.
  std::vector<Node> nodes;
  std::string user;      // ACL user; empty: the default user
  std::string password;  // empty: no AUTH
  unsigned database = 0;

  std::string master_name;                       // sentinel: which master to ask for
  std::string sentinel_user, sentinel_password;  // of the sentinels themselves

  bool tls = false;       // to servers and sentinels
  std::string ca_file;    // PEM; empty: the system's store
  bool insecure = false;  // neither the certificate nor its name is verified

  std::string prefix = "brink:";  // of keys (redis_key in codec.hpp) and channels; Client takes keys as they are

  std::chrono::milliseconds timeout{25};             // one command, from the call to its callback
  std::chrono::milliseconds connect_timeout{1'000};  // address, connection, TLS, AUTH and first answer together
  std::size_t max_in_flight = 1'024;                 // commands of one connection; past it they are refused at once
  std::size_t max_queued_bytes = 32U << 20;          // of one connection, not yet sent; past it they are refused
  std::size_t max_reply_bytes = 64U << 20;           // a longer reply ends its connection
};

// Reads a URL into `options` (nodes becomes the one it names; user, password, database, tls), and leaves the rest:
//   redis://[[user]:password@]host[:6379][/database]     rediss:// the same over TLS
//   unix://[[user]:password@]/path[?db=N]
// User, password and path are percent-decoded (RFC 3986 section 2.1). Returns "", or a sentence that says what is
// wrong and never shows the password.
std::string parse(std::string_view url, Options& options);

// "host:port", "[v6]:port" or "host" with the port to take then. Returns "" or what is wrong.
std::string parse_node(std::string_view text, std::uint16_t default_port, Node& node);

// What parse() cannot see: members that do not go together, or are out of range. Returns "" or what is wrong.
std::string check(const Options& options);

}  // namespace brink::cache::redis
