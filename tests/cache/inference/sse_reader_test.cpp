#include "cache/inference/sse_reader.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace brink::cache::inference {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;  // name, data

void read(SseReader& reader, std::string_view bytes, Events& events) {
  while (reader.next(bytes) == SseReader::Step::event) events.emplace_back(reader.event(), reader.data());
}

Events read(const std::vector<std::string>& pieces) {
  SseReader reader(1000);
  Events events;
  for (const std::string& piece : pieces) read(reader, piece, events);
  if (reader.finish() == SseReader::Step::event) events.emplace_back(reader.event(), reader.data());
  return events;
}

TEST(SseReader, LinesEndInThreeWays) {
  const Events expected = {{"", "a"}, {"", "b"}};
  EXPECT_EQ(read({"data: a\n\ndata: b\n\n"}), expected);
  EXPECT_EQ(read({"data: a\r\n\r\ndata: b\r\n\r\n"}), expected);
  EXPECT_EQ(read({"data: a\r\rdata: b\r\r"}), expected);
  EXPECT_EQ(read({"data: a\n\r\ndata: b\r\n\n"}), expected);
}

TEST(SseReader, CommentsAndOtherFieldsAreSkipped) {
  EXPECT_EQ(read({": hi\n\n:\ndata: a\nid: 7\nretry: 1\nfoo\n: x\n\n"}), (Events{{"", "a"}}));
}

TEST(SseReader, SeveralDataLinesAreJoined) {
  EXPECT_EQ(read({"data: a\ndata:b\ndata\ndata:  c\n\n"}), (Events{{"", "a\nb\n\n c"}}));
}

TEST(SseReader, AnEventHasAName) {
  EXPECT_EQ(read({"event: error\ndata: a\n\ndata: b\n\n"}), (Events{{"error", "a"}, {"", "b"}}));
  EXPECT_EQ(read({"event: ping\n\n"}), (Events{{"ping", ""}}));
}

TEST(SseReader, AByteOrderMarkIsSkippedAtTheStartOnly) {
  EXPECT_EQ(read({"\xef\xbb\xbf"
                  "data: a\n\n"}),
            (Events{{"", "a"}}));
  EXPECT_EQ(read({"\n\xef\xbb\xbf"
                  "data: a\n\n"}),
            Events{});
}

TEST(SseReader, TheLastEventNeedsNoEmptyLine) {
  EXPECT_EQ(read({"data: a\n\ndata: [DONE]"}), (Events{{"", "a"}, {"", "[DONE]"}}));
  EXPECT_EQ(read({"data: a\n\ndata: [DONE]\n"}), (Events{{"", "a"}, {"", "[DONE]"}}));
  EXPECT_EQ(read({"data: a\n\n"}), (Events{{"", "a"}}));
  EXPECT_EQ(read({}), Events{});
}

TEST(SseReader, CutsAnywhereChangeNothing) {
  const std::string text =
      "\xef\xbb\xbf: c\r\n\r\nevent: x\r\ndata: caf\xc3\xa9\r\ndata:b\r\r\n\ndata: z\r\rdata: [DONE]\n\n";
  const Events whole = read({text});
  ASSERT_EQ(whole.size(), 3U);
  for (std::size_t a = 0; a <= text.size(); ++a) {
    EXPECT_EQ(read({text.substr(0, a), text.substr(a)}), whole) << a;
    for (std::size_t b = a; b <= text.size(); b += 5)
      EXPECT_EQ(read({text.substr(0, a), text.substr(a, b - a), text.substr(b)}), whole) << a << " " << b;
  }
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(read(bytes), whole);
}

TEST(SseReader, LinesAndEventsAreBounded) {
  const auto overflows = [](const std::string& text) {
    SseReader reader(100);
    std::string_view bytes = text;
    SseReader::Step step = SseReader::Step::event;
    while (step == SseReader::Step::event) step = reader.next(bytes);
    std::string_view more = "data: a\n\n";
    return step == SseReader::Step::too_large && reader.next(more) == SseReader::Step::too_large;
  };
  EXPECT_TRUE(overflows("data: " + std::string(200, 'x')));
  EXPECT_TRUE(overflows(": " + std::string(200, 'x') + "\n"));
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "data: 12345678\n";
  EXPECT_TRUE(overflows(lines));
  EXPECT_FALSE(overflows("data: " + std::string(90, 'x') + "\n\n"));
}

}  // namespace
}  // namespace brink::cache::inference
