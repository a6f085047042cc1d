#include "cache/http/url.hpp"

#include <gtest/gtest.h>

namespace brink::cache::http {
namespace {

TEST(Url, HostIsLowerCaseAndTheOwnPortGoes) {
  EXPECT_EQ(normal_url("HTTP", "Example.ORG:80", "/A?b=C"), "http://example.org/A?b=C");
  EXPECT_EQ(normal_url("https", "example.org:443", "/"), "https://example.org/");
  EXPECT_EQ(normal_url("http", "example.org:443", "/"), "http://example.org:443/");
  EXPECT_EQ(normal_url("http", "example.org:8080", "/"), "http://example.org:8080/");
  EXPECT_EQ(normal_url("http", "[::1]:80", "/"), "http://[::1]/");
  EXPECT_EQ(normal_url("http", "example.org:", ""), "http://example.org/");
}

TEST(Url, PathAndQueryAreKeptExactly) {
  EXPECT_EQ(normal_url("http", "h", "/a/../b//%7e?x=/../y&"), "http://h/a/../b//%7e?x=/../y&");
  EXPECT_EQ(normal_url("http", "h", "?q"), "http://h/?q");
  EXPECT_EQ(normal_url("http", "h", "http://other/a?u=http://x/"), "http://h/a?u=http://x/");
  EXPECT_EQ(normal_url("http", "h", "http://other"), "http://h/");
}

TEST(Url, ReferencesAreResolvedAgainstTheirBase) {
  const auto resolved = [](std::string_view reference) { return resolve_same_origin("http://h:81/a/b?c", reference); };
  EXPECT_EQ(resolved(""), "http://h:81/a/b?c");
  EXPECT_EQ(resolved("#x"), "http://h:81/a/b?c");
  EXPECT_EQ(resolved("?x"), "http://h:81/a/b?x");
  EXPECT_EQ(resolved("x#y"), "http://h:81/a/x");
  EXPECT_EQ(resolved("/x/./y/../z?../q"), "http://h:81/x/z?../q");
  EXPECT_EQ(resolved("../../x"), "http://h:81/x");
  EXPECT_EQ(resolved(".."), "http://h:81/");
  EXPECT_EQ(resolved("HTTP://H:81"), "http://h:81/");
  EXPECT_EQ(resolved("//h:81/x"), "http://h:81/x");
  EXPECT_EQ(resolved("x:y"), "");
}

TEST(Url, AnotherOriginIsNone) {
  for (const char* other : {"http://h/x", "http://h:82/x", "https://h:81/x", "//other/x", "http://h:81@evil/x",
                            "http://u@h:81/x", "http://h:81.evil/x", "http:/x", "mailto:h"}) {
    EXPECT_EQ(resolve_same_origin("http://h:81/a", other), "") << other;
  }
  EXPECT_EQ(resolve_same_origin("", "/x"), "");
}

}  // namespace
}  // namespace brink::cache::http
