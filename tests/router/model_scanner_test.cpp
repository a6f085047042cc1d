#include "router/model_scanner.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "router/json_bytes.hpp"

namespace brink::router {
namespace {

using State = ModelScanner::State;

// What a scan ends with, comparable as a whole.
struct Found {
  State state = State::searching;
  std::string model;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const Found&) const = default;
};

void PrintTo(const Found& found, std::ostream* out) {
  *out << static_cast<int>(found.state) << " '" << found.model << "' " << found.begin << ".." << found.end;
}

Found result(ModelScanner& scanner) {
  if (scanner.finish() != State::found) return {scanner.state(), "", 0, 0};
  return {State::found, scanner.model(), scanner.value_begin(), scanner.value_end()};
}

Found scan(std::string_view body, std::size_t first = std::string_view::npos, std::size_t piece = 1 << 20) {
  ModelScanner scanner;
  scanner.feed(body.substr(0, first));
  if (first < body.size())
    for (body.remove_prefix(first); !body.empty(); body.remove_prefix(std::min(piece, body.size())))
      scanner.feed(body.substr(0, piece));
  return result(scanner);
}

// The scan of the whole, after checking that no way of cutting the body changes it.
Found scan_every_way(const std::string& body) {
  const Found whole = scan(body);
  EXPECT_EQ(scan(body, 0, 1), whole) << "byte by byte: " << body;
  for (std::size_t cut = 1; cut < body.size(); ++cut)
    EXPECT_EQ(scan(body, cut), whole) << "cut at " << cut << ": " << body;
  return whole;
}

std::string model_in(const std::string& body) {
  const Found found = scan_every_way(body);
  return found.state == State::found ? found.model : "(absent)";
}

TEST(ModelScanner, FindsTheTopLevelMember) {
  EXPECT_EQ(model_in(R"({"model":"gpt-4o"})"), "gpt-4o");
  EXPECT_EQ(model_in(R"({"stream":true,"n":-1.5e+3,"x":null,"model" : "a/b:c","y":1})"), "a/b:c");
  EXPECT_EQ(model_in(" \r\n\t{ \"model\"\n:\t\"m\" }"), "m");
  EXPECT_EQ(model_in("\xEF\xBB\xBF{\"model\":\"m\"}"), "m");
  EXPECT_EQ(model_in(R"({"model":""})"), "");
}

TEST(ModelScanner, IsNotMisledByNestedMembersAndText) {
  EXPECT_EQ(model_in(R"({"a":{"model":"no"},"b":[{"model":"no"}],"model":"yes"})"), "yes");
  EXPECT_EQ(model_in(R"({"a":"\"model\":\"no\"","b":"}],{","model":"yes"})"), "yes");
  EXPECT_EQ(model_in(R"({"a":"ends in backslashes\\\\","b":["\\\"]","\\"],"model":"yes"})"), "yes");
  EXPECT_EQ(model_in(R"({"models":"no","mode":"no","Model":"no","model ":"no","model":"yes"})"), "yes");
  EXPECT_EQ(model_in(R"({"a":[[],{},[{}],""],"model":"yes"})"), "yes");
}

TEST(ModelScanner, DecodesEscapesInTheKeyAndTheValue) {
  EXPECT_EQ(model_in(R"({"mod\u0065l":"x"})"), "x");
  EXPECT_EQ(model_in(R"({"\u006D\u006f\u0064\u0065\u006C":"x"})"), "x");
  EXPECT_EQ(model_in(R"({"model":"\"\\\/\b\f\n\r\t"})"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(model_in(R"({"model":"\u00e9\u20AC\ud83d\ude00"})"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(model_in(R"({"mod\"el":1,"mode\u00e9":2,"model":"x"})"), "x");
}

TEST(ModelScanner, SaysWhereTheValueStands) {
  const std::string body = "\xEF\xBB\xBF {\"a\": [1], \"model\" : \"ll\\u0061ma\" , \"b\": 2}";
  const Found found = scan_every_way(body);
  EXPECT_EQ(found.model, "llama");
  EXPECT_EQ(body.substr(found.begin, found.end - found.begin), "\"ll\\u0061ma\"");
}

TEST(ModelScanner, TakesTheFirstOfDuplicates) {
  EXPECT_EQ(model_in(R"({"model":"first","model":"second"})"), "first");
  EXPECT_EQ(model_in(R"({"model":1,"model":"second"})"), "(absent)");
}

TEST(ModelScanner, SaysAbsentAsSoonAsItIsCertain) {
  for (const char* body : {"[1]",
                           "\"model\"",
                           "x",
                           "\xEF\xBB{\"model\":\"m\"}",
                           " \xBB{",
                           "{}",
                           "{\"a\":1}",
                           "{\"model\":null",
                           "{\"model\":[\"m\"]",
                           "{\"model\":{",
                           "{model:",
                           "{\"a\"=",
                           "{\"a\":}",
                           "{\"a\":1;",
                           "{\"a\":1 2",
                           "{\"a\":[1]]",
                           "{\"a\":1,}",
                           "{\"model\":\"a\nb\"",
                           "{\"model\":\"\\x\"",
                           "{\"model\":\"\\u12g4\"",
                           "{\"model\":\"\\ud800x",
                           "{\"model\":\"\\udc00",
                           "{\"model\":\"\\ud800\\n",
                           "{\"model\":\"\\ud800\\ud800",
                           "{\"model\":\"\\ud800\""}) {
    ModelScanner scanner;
    EXPECT_EQ(scanner.feed(body), State::absent) << body;
    EXPECT_EQ(scanner.feed("{\"model\":\"late\"}"), State::absent) << body;
    EXPECT_EQ(scan_every_way(body).state, State::absent) << body;
  }
}

TEST(ModelScanner, SaysAbsentWhenTheBodyEndsEarly) {
  const std::string body = R"({"a":{"b":["c"]},"model":"m")";
  for (std::size_t size = 0; size + 1 < body.size(); ++size) {
    ModelScanner scanner;
    EXPECT_EQ(scanner.feed(body.substr(0, size)), State::searching) << size;
    EXPECT_EQ(scanner.finish(), State::absent) << size;
  }
}

TEST(ModelScanner, BoundsTheName) {
  const std::string most(ModelScanner::max_model, 'x');
  EXPECT_EQ(model_in("{\"model\":\"" + most + "\"}"), most);
  ModelScanner scanner;
  EXPECT_EQ(scanner.feed("{\"model\":\"" + most + "x"), State::absent);
}

TEST(ModelScanner, WalksPastLongAndDeepValues) {
  std::string deep = "{\"a\":";
  for (int i = 0; i < 300; ++i) deep += i % 2 ? "[" : "{\"k\":";
  for (int i = 299; i >= 0; --i) deep += i % 2 ? "]" : "}";
  EXPECT_EQ(scan(deep + ",\"model\":\"m\"}").model, "m");
  for (std::size_t size = 0; size < 200; ++size) {  // every position against the blocks that are skipped whole
    const std::string text(size, size % 3 ? 'x' : '\\');
    const std::string even = size % 3 || size % 2 == 0 ? text : text + "\\";
    const std::string body =
        "{\"m\":[{\"c\":\"" + even + "\"}, \"" + even + "}]\"],\"s\":\"" + even + "\",\"model\":\"m\"}";
    EXPECT_EQ(scan(body).model, "m") << body;
    EXPECT_EQ(scan(body, 0, 1), scan(body));
    EXPECT_EQ(scan(body, 0, 70), scan(body));
  }
}

// Text with everything that could confuse a scanner, more often than chance would give.
std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> parts{"\"",    "\\", "{",    "}", "[", "]", ":",    ",",           "a",
                                              "model", "\n", "\x01", "é", "😀", " ", "\\\"", "plain words", "Y_y\x7f"};
  std::string text;
  for (auto count = random() % 12; count > 0; --count) text += parts[random() % parts.size()];
  return text;
}

nlohmann::json random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<double>(random() % 100000) / 7;
    case 3:
    case 4:
      return random_text(random);
    case 5: {
      auto array = nlohmann::json::array();
      for (auto count = random() % 5; count > 0; --count) array.push_back(random_value(random, depth - 1));
      return array;
    }
    default: {
      auto object = nlohmann::json::object();
      for (auto count = random() % 5; count > 0; --count)
        object[random() % 4 ? random_text(random) : "model"] = random_value(random, depth - 1);
      return object;
    }
  }
}

TEST(ModelScanner, AgreesWithAParserOnRandomObjects) {
  std::mt19937_64 random(20);
  int found = 0;
  for (int i = 0; i < 3000; ++i) {
    auto object = nlohmann::json::object();
    for (auto count = random() % 8; count > 0; --count)
      object[random() % 5 ? random_text(random) : "model"] = random_value(random, 4);
    const std::string body = object.dump(random() % 2 ? -1 : 2, ' ', random() % 2 == 0);
    const bool present = object.contains("model") && object["model"].is_string();
    const Found whole = scan(body);
    ASSERT_EQ(whole.state, present ? State::found : State::absent) << body;
    if (present) {
      ++found;
      ASSERT_EQ(whole.model, object["model"].get<std::string>()) << body;
      ASSERT_EQ(nlohmann::json::parse(body.substr(whole.begin, whole.end - whole.begin)), object["model"]);
    }
    ASSERT_EQ(scan(body, 0, 1), whole) << body;
    ASSERT_EQ(scan(body, random() % (body.size() + 1), 1 + random() % 100), whole) << body;
  }
  EXPECT_GT(found, 300);
}

TEST(ModelScanner, GivesTheSameResultForNonsenseHoweverItIsCut) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 3000; ++i) {
    std::string body = "{\"a\":[";
    for (auto count = random() % 60; count > 0; --count) body += random_text(random);
    body += R"(],"model":"m"})";
    const Found whole = scan(body);
    ASSERT_EQ(scan(body, 0, 1), whole) << body;
    ASSERT_EQ(scan(body, random() % (body.size() + 1), 1 + random() % 200), whole) << body;
  }
}

TEST(JsonBytes, FindTheFirstByteThatMatters) {
  for (std::size_t size : {0, 1, 7, 8, 15, 16, 63, 64, 65, 200})
    for (std::size_t at = 0; at < size; ++at)
      for (const char byte : {'"', '\\', '{', '}', '[', ']'}) {
        std::string text(size, 'x');
        text[at] = byte;
        const char* const begin = text.data();
        const char* const end = begin + size;
        const bool bracket = byte != '"' && byte != '\\';
        EXPECT_EQ(find_string_special(begin, end), bracket ? end : begin + at);
        EXPECT_EQ(find_structural(begin, end), byte == '\\' ? end : begin + at);
      }
}

}  // namespace
}  // namespace brink::router
