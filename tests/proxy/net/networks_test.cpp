#include "proxy/net/networks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace brink::net {
namespace {

Networks networks(std::vector<std::string> list) { return Networks(list); }

TEST(Networks, HoldsAddressesOfANetworkOnly) {
  const Networks set = networks({"10.1.0.0/16", "192.168.4.7"});
  EXPECT_TRUE(set.contains("10.1.255.3"));
  EXPECT_FALSE(set.contains("10.2.0.1"));
  EXPECT_TRUE(set.contains("192.168.4.7"));
  EXPECT_FALSE(set.contains("192.168.4.8"));
}

TEST(Networks, PrefixesNeedNotEndOnAByte) {
  const Networks set = networks({"172.16.0.0/12", "2001:db8::/33"});
  EXPECT_TRUE(set.contains("172.31.255.255"));
  EXPECT_FALSE(set.contains("172.32.0.0"));
  EXPECT_TRUE(set.contains("2001:db8:7fff::1"));
  EXPECT_FALSE(set.contains("2001:db8:8000::1"));
}

TEST(Networks, AnIPv4ClientOnAnIPv6SocketIsTheSameClient) {
  EXPECT_TRUE(networks({"127.0.0.0/8"}).contains("::ffff:127.0.0.1"));
}

TEST(Networks, NothingIsTrustedByDefaultAndNoTextIsAnAddress) {
  EXPECT_FALSE(Networks().contains("127.0.0.1"));
  EXPECT_FALSE(networks({"0.0.0.0/0"}).contains("unknown"));
  EXPECT_FALSE(networks({"0.0.0.0/0"}).contains("::1"));
}

}  // namespace
}  // namespace brink::net
