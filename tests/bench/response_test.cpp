#include "tests/bench/response.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/bench/script.hpp"

namespace brink::bench {
namespace {

using State = ResponseReader::State;

TEST(ResponseReader, EndsAtTheContentLengthAndLeavesTheRest) {
  ResponseReader reader(false);
  const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  EXPECT_EQ(reader.feed(std::string(answer) + "HTTP/1.1"), answer.size());
  EXPECT_EQ(reader.state(), State::complete);
  EXPECT_EQ(reader.body_bytes(), 5u);
  EXPECT_TRUE(reader.keep_alive());
}

TEST(ResponseReader, CountsTheEventsOfAStreamCutAtEachByte) {
  ResponseReader reader(true);
  for (const char byte : event_stream(64).bytes) {
    ASSERT_EQ(reader.state(), State::reading);
    reader.feed({&byte, 1});
  }
  EXPECT_EQ(reader.state(), State::complete);
  EXPECT_EQ(reader.events().in_order(), 64u);
  EXPECT_TRUE(reader.events().done());
  EXPECT_FALSE(reader.events().disordered());
}

TEST(ResponseReader, SkipsAnInterimResponse) {
  ResponseReader reader(false);
  reader.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(reader.state(), State::complete);
  EXPECT_EQ(reader.status(), 200);
}

TEST(ResponseReader, TellsAShortBodyFromOneThatTheCloseEnds) {
  ResponseReader cut(false);
  cut.feed("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel");
  cut.end_of_input();
  EXPECT_EQ(cut.state(), State::broken);

  ResponseReader whole(false);
  whole.feed("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhel");
  whole.end_of_input();
  EXPECT_EQ(whole.state(), State::complete);
  EXPECT_FALSE(whole.keep_alive());
}

TEST(ResponseReader, RefusesWhatIsNoResponse) {
  for (const std::string_view bytes : {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
                                       "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                                       "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n"}) {
    ResponseReader reader(false);
    reader.feed(bytes);
    EXPECT_EQ(reader.state(), State::broken) << bytes;
  }
}

TEST(EventCounter, NoticesAnEventThatIsLostRepeatedOrAfterTheEnd) {
  for (const std::string_view stream :
       {"data: {\"i\":0,}\n\ndata: {\"i\":2,}\n\n", "data: {\"i\":0,}\n\ndata: {\"i\":0,}\n\n",
        "data: {\"i\":0,}\n\ndata: [DONE]\n\ndata: {\"i\":1,}\n\n", "data: {\"i\":0,}\n\ndata: x\n\n"}) {
    EventCounter counter;
    counter.feed(stream);
    EXPECT_EQ(counter.in_order(), 1u) << stream;
    EXPECT_TRUE(counter.disordered()) << stream;
  }
}

}  // namespace
}  // namespace brink::bench
