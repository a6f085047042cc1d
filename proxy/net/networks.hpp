// A set of CIDR networks, to tell trusted peers. Immutable after construction.
#pragma once

#include <array>
#include <boost/asio/ip/address.hpp>
#include <span>
#include <string>
#include <vector>

namespace brink::net {

class Networks {
 public:
  Networks() = default;
  // Addresses or CIDR networks, IPv4 or IPv6; those that do not parse were refused when the configuration was checked.
  explicit Networks(std::span<const std::string> networks);
  bool contains(const boost::asio::ip::address& address) const;
  bool contains(std::string_view numeric) const;
  bool empty() const { return networks_.empty(); }

 private:
  struct Network {
    std::array<unsigned char, 16> bytes;  // IPv4 as ::ffff:a.b.c.d
    unsigned bits;
  };
  std::vector<Network> networks_;
};

}  // namespace brink::net
