#include "cache/http/invalidation.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

using Urls = std::vector<std::string>;

Urls after(std::string_view method, unsigned status, Fields response = {}) {
  return invalidated_urls({method, "http://h/a/b", {}}, answer(status, response));
}

TEST(Invalidation, UnsafeMethodsThatSucceedInvalidateTheirTarget) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"}) {
    for (const unsigned status : {200U, 204U, 303U}) EXPECT_EQ(after(method, status), Urls{"http://h/a/b"}) << method;
    for (const unsigned status : {101U, 400U, 500U}) EXPECT_EQ(after(method, status), Urls{}) << method;
  }
  for (const char* method : {"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"})
    EXPECT_EQ(after(method, 200), Urls{}) << method;
}

TEST(Invalidation, LocationsOfTheSameOriginGoToo) {
  EXPECT_EQ(after("POST", 201, Head{"Location: c", "Content-Location: http://H:80/d"}),
            (Urls{"http://h/a/b", "http://h/a/c", "http://h/d"}));
  EXPECT_EQ(after("POST", 201, Head{"Location: b", "Content-Location: b"}), Urls{"http://h/a/b"});
  EXPECT_EQ(after("POST", 201, Head{"Location: http://other/c", "Content-Location: //h:81/"}), Urls{"http://h/a/b"});
}

}  // namespace
}  // namespace brink::cache::http
