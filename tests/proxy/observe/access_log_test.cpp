#include "proxy/observe/access_log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "proxy/observe/access_line.hpp"

namespace brink::observe {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// A directory that goes away with the test.
struct Directory {
  Directory() {
    char name[] = "/tmp/brink-access-log-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::system_error(errno, std::system_category(), name);
    path = name;
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return path + "/" + name; }
  std::string path;
};

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A request as the parser leaves it, with all that an exchange learns on its way.
struct Request {
  explicit Request(const std::string& target = "/v1/chat", const std::string& fields = "") {
    bytes = "POST " + target + " HTTP/1.1\r\nHost: api.example.com:8080\r\nUser-Agent: test/1\r\n" + fields + "\r\n";
    const auto parsed = http::parse_request(bytes, {}, exchange.head);
    EXPECT_EQ(parsed.error, http::HeadError::ok) << parsed.what;
    exchange.request_id = "id-1";
    exchange.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    exchange.client = "192.0.2.7";
    exchange.start = Time{} + 10s;
  }
  std::string bytes;
  http::Exchange exchange;
};

std::string raw_line(const http::Exchange& exchange, Time now) {
  std::string scratch, line(access_line_bound(exchange), '\0');
  char* end = write_access_line(line.data(), exchange, "2026-12-01T13:00:00.123Z", now, scratch);
  line.resize(static_cast<std::size_t>(end - line.data()));
  return line;
}

json line_of(const Request& request) { return json::parse(raw_line(request.exchange, request.exchange.start + 3s)); }

TEST(AccessLine, SaysAllThatIsKnownOfAnExchange) {
  conf::RouteConfig route;
  route.name = "chat";
  conf::ClusterConfig cluster;
  cluster.name = "gpu";
  const router::EndpointState endpoint("10.0.0.1:8000");
  Request request("/v1/chat?x=1");
  http::Exchange& exchange = request.exchange;
  exchange.route = &route;
  exchange.cluster = &cluster;
  exchange.endpoint = &endpoint;
  exchange.model = "llama";
  exchange.cache = http::CacheResult::revalidated;
  exchange.status = 200;
  exchange.bytes_in = 2048;
  exchange.bytes_out = 18'446'744'073'709'551'615ULL;
  exchange.sent = exchange.start + 1ms;
  exchange.first_byte = exchange.start + 1ms + 45'678us;
  exchange.attempts = 2;
  exchange.reused = true;
  exchange.complete = true;
  exchange.stop = http::Stop::finish;
  const std::string line = raw_line(exchange, exchange.start + 1234'567us);
  EXPECT_EQ(line,
            R"({"time":"2026-12-01T13:00:00.123Z","request_id":"id-1","trace_id":"0af7651916cd43dd8448eb211c80319c",)"
            R"("client":"192.0.2.7","method":"POST","host":"api.example.com","target":"/v1/chat?x=1",)"
            R"("protocol":"HTTP/1.1","user_agent":"test/1","route":"chat","cluster":"gpu","endpoint":"10.0.0.1:8000",)"
            R"("fallback":null,"model":"llama","cache":"revalidated","status":200,"bytes_in":2048,"bytes_out":18446744073709551615,)"
            R"("duration_ms":1234.567,"ttfb_ms":46.678,"upstream_ms":45.678,"attempts":2,"reused":true,"tunnel":false,)"
            R"("stop":"finish","complete":true,"error":null,"error_detail":null})"
            "\n");
}

TEST(AccessLine, WhatIsNotKnownIsNull) {
  http::Exchange exchange;
  exchange.fail(http::ErrorKind::malformed_request, http::Stop::parse, "a \"field\"\r\nwithout\xff a colon");
  const json line = json::parse(raw_line(exchange, Time{}));
  for (const char* key :
       {"request_id", "trace_id", "method", "route", "cluster", "endpoint", "fallback", "model", "cache", "ttfb_ms"}) {
    EXPECT_TRUE(line.at(key).is_null()) << key;
  }
  EXPECT_EQ(line.at("error"), "malformed_request");
  EXPECT_EQ(line.at("error_detail"), "a \"field\"\r\nwithout\xef\xbf\xbd a colon");
  EXPECT_EQ(line.at("stop"), "parse");
  EXPECT_EQ(line.at("complete"), false);
}

TEST(AccessLine, TextFromOutsideCannotBreakALine) {
  Request request("/a\"b\\c", "");
  request.exchange.model = "x\n{\"time\":\"forged\"}\x7f\x01";
  request.exchange.error_detail = std::string(100'000, '\x01');
  const std::string line = raw_line(request.exchange, request.exchange.start);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_LE(line.size(), access_line_bound(request.exchange));
  const json parsed = json::parse(line);
  EXPECT_EQ(parsed.at("target"), "/a\"b\\c");
  EXPECT_EQ(parsed.at("model"), request.exchange.model);
  EXPECT_EQ(parsed.at("error_detail"), std::string(512, '\x01'));
}

TEST(AccessLine, CredentialsInTheQueryAreMasked) {
  const auto target = [](const std::string& sent) { return line_of(Request(sent)).at("target").get<std::string>(); };
  EXPECT_EQ(target("/p?a=1&api_key=sk-1&b=2"), "/p?a=1&api_key=***&b=2");
  EXPECT_EQ(target("/p?KEY=x;Access_Token=y&sig=z"), "/p?KEY=***;Access_Token=***&sig=***");
  EXPECT_EQ(target("/p?api%5Fke%79=x"), "/p?api%5Fke%79=***");
  EXPECT_EQ(target("/p?x-very-long-name-of-a-client-secret=x&"), "/p?x-very-long-name-of-a-client-secret=***&");
  EXPECT_EQ(target("/p?key"), "/p?key");
  EXPECT_EQ(target("/p?key=&sig=&key="), "/p?key=***&sig=***&key=***");
  EXPECT_EQ(target("/key=1?design=2&keys=3&max_tokens=4"), "/key=1?design=2&keys=3&max_tokens=4");
  EXPECT_EQ(target("/p?"), "/p?");
}

TEST(AccessLog, LinesAreDatedByTheWallClock) {
  const Directory directory;
  const Request request;
  const auto before = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  {
    AccessLog log(directory.file("a"));
    AccessLogBuffer buffer(log);
    const Time now = router::Clock::now();
    buffer.write(request.exchange, now);
    buffer.write(request.exchange, now + 1ms);
    buffer.write(request.exchange, now + 25h);
  }
  std::vector<std::chrono::sys_time<std::chrono::milliseconds>> times;
  for (const auto& line : lines_of(directory.file("a"))) {
    const std::string text = json::parse(line).at("time");
    std::tm parts{};
    int ms = -1;
    ASSERT_EQ(text.size(), 24U);
    EXPECT_EQ(text.substr(19, 1) + text.back(), ".Z");
    ASSERT_EQ(std::sscanf(text.c_str() + 19, ".%dZ", &ms), 1);
    ASSERT_NE(::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts), nullptr);
    times.emplace_back(std::chrono::seconds(::timegm(&parts)) + std::chrono::milliseconds(ms));
  }
  ASSERT_EQ(times.size(), 3U);
  EXPECT_GE(times[0] - before, -1ms);  // the two clocks are read one after the other
  EXPECT_LE(times[0] - before, 10min);
  EXPECT_EQ(times[1] - times[0], 1ms);
  EXPECT_EQ(times[2] - times[0], 25h);
}

TEST(AccessLog, EveryLineOfEveryWorkerArrivesWhole) {
  constexpr int workers = 3, lines = 2000;
  const Directory directory;
  AccessLog log(directory.file("a"));
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&log, worker] {
      AccessLogBuffer buffer(log);
      Request request;
      for (int i = 0; i < lines; ++i) {
        request.exchange.request_id = std::to_string(worker) + "-" + std::to_string(i);
        buffer.write(request.exchange, request.exchange.start);
        if (i % 100 == 0) buffer.flush();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  log.stop();
  EXPECT_EQ(log.dropped(), 0U);
  std::vector<int> next(workers);
  for (const auto& line : lines_of(directory.file("a"))) {
    const std::string id = json::parse(line).at("request_id");
    EXPECT_EQ(id.substr(2), std::to_string(next.at(static_cast<std::size_t>(id[0] - '0'))++));
  }
  EXPECT_THAT(next, ::testing::Each(lines));
}

TEST(AccessLog, ALongLineNeedsNoRoomInTheBuffer) {
  const Directory directory;
  Request request;
  const std::string path = "/" + std::string(200'000, '\x02');
  request.exchange.head.path = path;
  {
    AccessLog log(directory.file("a"));
    AccessLogBuffer buffer(log);
    buffer.write(request.exchange, request.exchange.start);
    buffer.write(Request().exchange, request.exchange.start);
  }
  const auto lines = lines_of(directory.file("a"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]).at("target"), path);
}

TEST(AccessLog, ReopenFollowsARotation) {
  const Directory directory;
  AccessLog log(directory.file("a"));
  AccessLogBuffer buffer(log);
  const Request request;
  std::filesystem::rename(directory.file("a"), directory.file("a.1"));
  log.reopen();
  buffer.write(request.exchange, request.exchange.start);
  buffer.flush();
  log.stop();
  EXPECT_EQ(lines_of(directory.file("a")).size(), 1U);
  EXPECT_EQ(lines_of(directory.file("a.1")).size(), 0U);
}

TEST(AccessLog, AFileThatCannotBeOpenedIsNamedAndChangesNothing) {
  const Directory directory;
  EXPECT_THROW(AccessLog(directory.file("no/such/directory")), std::system_error);
  AccessLog log(directory.file("a"));
  try {
    log.open(directory.file("no/a"));
    FAIL() << "opened";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(directory.file("no/a")));
  }
  AccessLogBuffer buffer(log);
  buffer.write(Request().exchange, Time{} + 11s);
  buffer.flush();
  log.stop();
  EXPECT_EQ(lines_of(directory.file("a")).size(), 1U);
}

TEST(AccessLog, OffWritesNothingAndCountsNothing) {
  AccessLog log("off");
  AccessLogBuffer buffer(log);
  EXPECT_FALSE(log.enabled());
  buffer.write(Request().exchange, Time{} + 11s);
  buffer.flush();
  log.stop();
  EXPECT_EQ(log.dropped(), 0U);
}

// The reader of a pipe reads nothing: workers do not wait, memory is bounded, the loss is counted, the end comes in
// time.
TEST(AccessLog, AStuckTargetCostsLinesNotTime) {
  const Directory directory;
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ::testing::internal::CaptureStderr();
  AccessLog log(pipe, 100'000);
  const Request request;
  constexpr std::uint64_t lines = 5000;
  {
    AccessLogBuffer buffer(log);
    for (std::uint64_t i = 0; i < lines; ++i) buffer.write(request.exchange, request.exchange.start);
  }
  log.stop(10ms);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("takes them too slowly"));
  std::string got;
  char block[4096];
  for (ssize_t size; (size = ::read(reader, block, sizeof block)) > 0;)
    got.append(block, static_cast<std::size_t>(size));
  ::close(reader);
  const auto whole = static_cast<std::uint64_t>(std::count(got.begin(), got.end(), '\n'));
  EXPECT_GT(whole, 0U);
  EXPECT_EQ(whole + log.dropped(), lines);
}

TEST(AccessLog, AFailedWriteIsCountedAndSaidOnce) {
  ::testing::internal::CaptureStderr();
  AccessLog log("/dev/full");
  {
    AccessLogBuffer buffer(log);
    for (int i = 0; i < 3; ++i) {
      buffer.write(Request().exchange, Time{} + 11s);
      buffer.flush();
    }
  }
  log.stop();
  EXPECT_EQ(log.dropped(), 3U);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, ::testing::HasSubstr("lines lost; writing failed: No space left on device"));
}

TEST(AccessLog, StandardOutputIsATarget) {
  ::testing::internal::CaptureStdout();
  AccessLog log("-");
  {
    AccessLogBuffer buffer(log);
    buffer.write(Request().exchange, Time{} + 11s);
  }
  log.stop();
  EXPECT_EQ(json::parse(::testing::internal::GetCapturedStdout()).at("request_id"), "id-1");
}

}  // namespace
}  // namespace brink::observe
