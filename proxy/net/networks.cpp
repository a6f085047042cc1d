#include "proxy/net/networks.hpp"

#include <algorithm>
#include <charconv>

namespace brink::net {
namespace {

using boost::asio::ip::address;
constexpr unsigned mapped_bits = 96;  // of the prefix ::ffff:0:0/96

std::array<unsigned char, 16> to_v6(const address& address) {
  if (address.is_v6()) return address.to_v6().to_bytes();
  std::array<unsigned char, 16> bytes{};
  bytes[10] = bytes[11] = 0xff;
  const auto v4 = address.to_v4().to_bytes();
  std::copy(v4.begin(), v4.end(), bytes.begin() + 12);
  return bytes;
}

}  // namespace

Networks::Networks(std::span<const std::string> networks) {
  for (const std::string& text : networks) {
    const std::size_t slash = text.find('/');
    boost::system::error_code error;
    const address base = boost::asio::ip::make_address(text.substr(0, slash), error);
    if (error) continue;
    unsigned bits = base.is_v4() ? 32 : 128;
    if (slash != std::string::npos) std::from_chars(text.data() + slash + 1, text.data() + text.size(), bits);
    networks_.push_back({to_v6(base), base.is_v4() ? bits + mapped_bits : bits});
  }
}

bool Networks::contains(const address& address) const {
  if (networks_.empty()) return false;
  const auto bytes = to_v6(address);
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    const unsigned whole = network.bits / 8;
    if (!std::equal(bytes.begin(), bytes.begin() + whole, network.bytes.begin())) return false;
    const unsigned rest = network.bits % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<unsigned char>(0xff << (8 - rest));
    return (bytes[whole] & mask) == (network.bytes[whole] & mask);
  });
}

bool Networks::contains(std::string_view numeric) const {
  boost::system::error_code error;
  const address parsed = boost::asio::ip::make_address(std::string(numeric), error);
  return !error && contains(parsed);
}

}  // namespace brink::net
