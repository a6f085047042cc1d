#include "cache/inference/scope.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace brink::cache::inference {
namespace {

std::string scope(std::vector<Field> fields, std::vector<std::string_view> more = {}) {
  return scope_digest(fields, more);
}

TEST(Scope, EachCredentialIsAScopeOfItsOwn) {
  std::set<std::string> scopes{scope({})};
  for (const char* name : {"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key",
                           "ocp-apim-subscription-key", "cookie"}) {
    for (const char* value : {"", "Bearer a", "Bearer b"})
      EXPECT_TRUE(scopes.insert(scope({{name, value}})).second) << name;
  }
}

TEST(Scope, AbsentCredentialsFormOneScope) {
  EXPECT_EQ(scope({}), scope({{"User-Agent", "x"}, {"Accept", "y"}}));
  EXPECT_EQ(scope({}).size(), 64U);
}

TEST(Scope, OneOfSeveralCredentialsIsEnoughToDiffer) {
  EXPECT_NE(scope({{"Authorization", "a"}, {"Cookie", "x"}}), scope({{"Authorization", "a"}, {"Cookie", "y"}}));
  EXPECT_NE(scope({{"Authorization", "a"}, {"X-Api-Key", "x"}}), scope({{"Authorization", "a"}}));
}

TEST(Scope, NamesAreCaseInsensitiveAndTheirOrderDoesNotMatter) {
  EXPECT_EQ(scope({{"AUTHORIZATION", "a"}, {"api-KEY", "b"}}), scope({{"Api-Key", "b"}, {"authorization", "a"}}));
  EXPECT_NE(scope({{"authorization", "A"}}), scope({{"authorization", "a"}}));
}

TEST(Scope, BytesCannotMoveBetweenFields) {
  EXPECT_NE(scope({{"api-key", "a"}, {"x-api-key", "b"}}), scope({{"api-key", "b"}, {"x-api-key", "a"}}));
  EXPECT_NE(scope({{"cookie", "a"}, {"cookie", "b"}}), scope({{"cookie", "ab"}}));
  EXPECT_NE(scope({{"cookie", "a9:x-api-key1:b"}}), scope({{"cookie", "a"}, {"x-api-key", "b"}}));
}

TEST(Scope, FurtherFieldsCanBeNamed) {
  EXPECT_EQ(scope({{"X-User", "a"}}), scope({{"X-User", "b"}}));
  EXPECT_NE(scope({{"X-User", "a"}}, {"x-user"}), scope({{"X-User", "b"}}, {"x-user"}));
}

}  // namespace
}  // namespace brink::cache::inference
