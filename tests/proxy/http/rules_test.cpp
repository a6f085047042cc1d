// The shared grammar: authorities, lists, lengths.
#include "proxy/http/rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brink::http {
namespace {

TEST(Authority, NamesAddressesAndPorts) {
  EXPECT_EQ(parse_authority("a.example")->host, "a.example");
  EXPECT_EQ(parse_authority("a.example")->port, -1);
  EXPECT_EQ(parse_authority("a_b-c.example:8080")->port, 8080);
  EXPECT_EQ(parse_authority("a:")->port, -1);
  EXPECT_EQ(parse_authority("a:0065535")->port, 65535);
  EXPECT_EQ(parse_authority("[2001:db8::1]:443")->host, "[2001:db8::1]");
  EXPECT_EQ(parse_authority("[2001:db8::1]:443")->port, 443);
  EXPECT_EQ(parse_authority("[::ffff:10.0.0.1]")->host, "[::ffff:10.0.0.1]");
}

TEST(Authority, WhatIsNone) {
  for (const auto* text :
       {"", ":", ":1", "a:b", "a b", "a/", "u@a", "[", "[]", "[::1", "[fe80::1%eth0]", "[::1]x", "::1"}) {
    EXPECT_FALSE(parse_authority(text)) << text;
  }
  EXPECT_TRUE(parse_authority(std::string(255, 'a')));
  EXPECT_FALSE(parse_authority(std::string(256, 'a')));
}

TEST(List, ElementsAreTrimmedAndEmptyOnesKept) {
  ListCursor cursor{" a ,\tb,, c"};
  EXPECT_EQ(cursor.next(), "a");
  EXPECT_EQ(cursor.next(), "b");
  EXPECT_EQ(cursor.next(), "");
  EXPECT_TRUE(cursor.more);
  EXPECT_EQ(cursor.next(), "c");
  EXPECT_FALSE(cursor.more);
}

TEST(List, HasComparesWholeElements) {
  EXPECT_TRUE(list_has("keep-alive, Upgrade", "upgrade"));
  EXPECT_FALSE(list_has("keep-alive, upgrades", "upgrade"));
  EXPECT_FALSE(list_has("", "upgrade"));
}

TEST(Length, IsDecimalBelowTwoToThe63) {
  EXPECT_EQ(parse_length("0"), 0u);
  EXPECT_EQ(parse_length("0010"), 10u);
  EXPECT_EQ(parse_length("9223372036854775807"), 9223372036854775807u);
  for (const auto* text : {"", " 1", "1 ", "+1", "-1", "1e3", "0x1", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_FALSE(parse_length(text)) << text;
  }
}

TEST(Token, IsNotEmptyAndHasNoSeparator) {
  EXPECT_TRUE(is_token("x-a_b!#$%&'*+.^`|~09"));
  for (const auto* text : {"", "a b", "a:", "a(", "\x80", "a\"", "a@b", "a=b"}) EXPECT_FALSE(is_token(text)) << text;
}

TEST(Names, EndToEndFieldsAreNotNominated) {
  for (const auto* name : {"Host", "CONTENT-TYPE", "x-forwarded-for", "Forwarded", "cookie", "authorization", "Via"}) {
    EXPECT_FALSE(may_be_nominated(name)) << name;
  }
  for (const auto* name : {"close", "te", "http2-settings", "x-hop", "transfer-encoding"}) {
    EXPECT_TRUE(may_be_nominated(name)) << name;
  }
}

TEST(Names, UsualTrailersAreAllowed) {
  for (const auto* name : {"Digest", "Content-Digest", "ETag", "Server-Timing", "grpc-status", "x-checksum"}) {
    EXPECT_TRUE(may_be_trailer(name)) << name;
  }
}

}  // namespace
}  // namespace brink::http
