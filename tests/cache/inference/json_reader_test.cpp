#include "cache/inference/json_reader.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace brink::cache::inference {
namespace {

using Kind = JsonReader::Kind;

TEST(JsonReader, WalksMembersAndElements) {
  JsonReader reader(R"( { "a" : [ 1 , "x\n\u00e9" , true , null ] , "\u0062":{ } , "c" : -1.5e3 } )");
  std::string text;
  std::string_view number;
  std::size_t index = 0;
  bool flag = false;
  ASSERT_TRUE(reader.enter_object());
  ASSERT_TRUE(reader.next_member());
  EXPECT_EQ(reader.name(), "a");
  EXPECT_EQ(reader.peek(), Kind::array);
  ASSERT_TRUE(reader.enter_array());
  ASSERT_TRUE(reader.next_element() && reader.read_index(index));
  EXPECT_EQ(index, 1U);
  ASSERT_TRUE(reader.next_element() && reader.read_string(text));
  EXPECT_EQ(text, "x\n\xc3\xa9");
  ASSERT_TRUE(reader.next_element() && reader.read_boolean(flag));
  EXPECT_TRUE(flag);
  ASSERT_TRUE(reader.next_element());
  EXPECT_EQ(reader.peek(), Kind::null);
  ASSERT_TRUE(reader.skip());
  EXPECT_FALSE(reader.next_element());
  ASSERT_TRUE(reader.next_member());
  EXPECT_EQ(reader.name(), "b");
  std::string_view value;
  ASSERT_TRUE(reader.skip(value));
  EXPECT_EQ(value, "{ }");
  ASSERT_TRUE(reader.next_member() && reader.read_number(number));
  EXPECT_EQ(number, "-1.5e3");
  EXPECT_FALSE(reader.next_member());
  EXPECT_TRUE(reader.done());
}

TEST(JsonReader, AnotherTypeIsAnError) {
  std::string text;
  bool flag = false;
  std::size_t index = 0;
  EXPECT_FALSE(JsonReader("1").read_string(text));
  EXPECT_FALSE(JsonReader("\"true\"").read_boolean(flag));
  EXPECT_FALSE(JsonReader("[]").enter_object());
  EXPECT_FALSE(JsonReader("{}").enter_array());
  for (const char* number : {"-1", "1.0", "1e2", "4294967296", "null"})
    EXPECT_FALSE(JsonReader(number).read_index(index));
  EXPECT_TRUE(JsonReader("4294967295").read_index(index));
}

TEST(JsonReader, ErrorsInWhatIsSkippedCount) {
  for (const char* text :
       {"{\"a\":[1,]}", "{\"a\":{\"b\"}}", "{\"a\":\"\\x\"}", "{\"a\":01}", "{\"a\":tru}", "{\"a\":1",
        "{\"a\":\"\xc0\x80\"}", "{\"a\" 1}", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":[1 2]}", ""}) {
    JsonReader reader(text);
    reader.skip();
    EXPECT_FALSE(reader.done()) << text;
  }
}

TEST(JsonReader, DepthAndMembersAreBounded) {
  const auto fine = [](const std::string& text, JsonReader::Limits limits) {
    JsonReader reader(text, limits);
    reader.skip();
    return reader.done();
  };
  EXPECT_TRUE(fine("[[[]]]", {3, 10}));
  EXPECT_FALSE(fine("[[[[]]]]", {3, 10}));
  EXPECT_FALSE(fine(std::string(1'000'000, '['), {}));
  EXPECT_TRUE(fine("{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", {3, 2}));
  EXPECT_FALSE(fine("{\"a\":{\"c\":1,\"d\":2,\"e\":3}}", {3, 2}));
}

}  // namespace
}  // namespace brink::cache::inference
