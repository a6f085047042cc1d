// The small pure parts: units, forms of hosts and addresses, proposals for names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conf/problems.hpp"
#include "conf/syntax.hpp"
#include "conf/units.hpp"

namespace brink::conf {
namespace {

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("250ms"), 250);
  EXPECT_EQ(parse_duration("2s"), 2'000);
  EXPECT_EQ(parse_duration("30m"), 1'800'000);
  EXPECT_EQ(parse_duration("24h"), 86'400'000);
  for (const char* wrong : {"", "5", "s", "1.5s", "-1s", "1 s", "1d", "1S", "9223372036854775807h"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
  for (const char* text : {"250ms", "2s", "90s", "30m", "24h"}) EXPECT_EQ(format_duration(*parse_duration(text)), text);
}

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("512B"), 512);
  EXPECT_EQ(parse_size("64KiB"), 65'536);
  EXPECT_EQ(parse_size("1GiB"), 1'073'741'824);
  for (const char* wrong : {"", "KiB", "1KB", "1k", "-1", "0x10", "1.5MiB", "99999999999GiB"}) {
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  }
  EXPECT_EQ(format_size(65'536), "64KiB");
}

TEST(Units, Rates) {
  EXPECT_DOUBLE_EQ(*parse_rate("100/s"), 100.0);
  EXPECT_DOUBLE_EQ(*parse_rate("600/m"), 10.0);
  for (const char* wrong : {"100", "/s", "100/h", "1.5/s", "100/", "100/s "}) EXPECT_FALSE(parse_rate(wrong)) << wrong;
}

std::string fine_or(std::string (*check)(std::string&), std::string text) { return check(text); }

TEST(Syntax, HostPatterns) {
  for (const char* right : {"a", "api.example.com", "*.example.com", "API.Example.COM", "10.0.0.1", "[::1]", "a_b.c"}) {
    EXPECT_EQ(fine_or(check_host_pattern, right), "") << right;
  }
  for (const char* wrong : {"", "*", "*.", "a.*.b", "*a.b", "**.a", "a..b", ".a", "a:80", "http://a", "a b",
                            "10.0.0.256", "[::1]:80", "[x]", "-a.b", "\xc3\xa9.fr"}) {
    EXPECT_NE(fine_or(check_host_pattern, wrong), "") << wrong;
  }
  std::string text = "*.Example.COM";
  check_host_pattern(text);
  EXPECT_EQ(text, "*.example.com");
}

TEST(Syntax, Networks) {
  for (const char* right : {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1", "192.0.2.1/32", "fd00::/8", "::1", "::/0"}) {
    EXPECT_EQ(fine_or(check_network, right), "") << right;
  }
  for (const char* wrong : {"", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "fd00::/129", "::1/64", "10.0.0.0/", "a/8"}) {
    EXPECT_NE(fine_or(check_network, wrong), "") << wrong;
  }
}

TEST(Syntax, Addresses) {
  Target target;
  EXPECT_EQ(parse_address("[fd00::1]:443", target), "");
  EXPECT_EQ(target.host, "fd00::1");
  EXPECT_EQ(target.port, 443);
  for (const char* wrong : {"", "8080", ":8080", "0.0.0.0", "0.0.0.0:", "0.0.0.0:65536", "0.0.0.0:-1", "::1:80",
                            "[::1]", "[::1]x:80", "localhost:80", "[127.0.0.1]:80"}) {
    EXPECT_NE(parse_address(wrong, target), "") << wrong;
  }
}

TEST(Syntax, EndpointUrls) {
  Target target;
  EXPECT_EQ(parse_url("http://gpu-1.Internal:8000", target), "");
  EXPECT_EQ(target.host, "gpu-1.internal");
  EXPECT_EQ(target.port, 8000);
  for (const char* wrong :
       {"", "gpu-1:8000", "ftp://a", "http://", "http://:80", "http://a:0", "http://a:65536", "http://a/v1",
        "http://a?x", "http://u:p@a", "http://a b", "unix://", "unix://x", "https://a", "http://::1"}) {
    EXPECT_NE(parse_url(wrong, target), "") << wrong;
  }
  EXPECT_EQ(parse_url("unix:///" + std::string(106, 'a'), target), "");
  EXPECT_NE(parse_url("unix:///" + std::string(107, 'a'), target), "");
}

TEST(Syntax, MethodsPathsAndHeaders) {
  EXPECT_EQ(fine_or(check_method, "PROPFIND"), "");
  for (const char* wrong : {"", "get", "G ET", "CONNECT"}) EXPECT_NE(fine_or(check_method, wrong), "") << wrong;
  EXPECT_EQ(fine_or(check_path, "/v1/%20x"), "");
  for (const char* wrong : {"", "v1", "/a?b", "/a#b", "/a b", "/\xc3\xa9"})
    EXPECT_NE(fine_or(check_path, wrong), "") << wrong;
  EXPECT_EQ(fine_or(check_header_value, "a\tb \xc3\xa9"), "");
  for (const std::string wrong : {"a\nb", "a\rb", " a", "a ", "\x01"})
    EXPECT_NE(fine_or(check_header_value, wrong), "");
  EXPECT_NE(fine_or(check_header_value, std::string("a\0b", 3)), "");
}

TEST(Problems, NearestName) {
  const std::vector<std::string_view> keys{"balance", "endpoints", "limits"};
  EXPECT_EQ(nearest("ballance", keys), "balance");
  EXPECT_EQ(nearest("balacne", keys), "balance");
  EXPECT_EQ(nearest("limit", keys), "limits");
  EXPECT_EQ(nearest("timeouts", keys), "");
  EXPECT_EQ(nearest(std::string(10'000, 'a'), keys), "");
  EXPECT_EQ(nearest("", keys), "");
}

TEST(Problems, QuotedTextStaysOneShortLine) {
  EXPECT_EQ(ticked("a\nb\x7f"), "`a?b?`");
  EXPECT_EQ(ticked(std::string(79, 'a') + "\xc3\xa9"), "`" + std::string(79, 'a') + "...`");
}

TEST(Problems, AreBounded) {
  Problems problems;
  for (int i = 0; i < 5000; ++i) problems.add({"f", i + 1, 1}, "x");
  const auto list = problems.take();
  ASSERT_EQ(list.size(), Problems::max_problems + 1);
  EXPECT_EQ(to_string(list.back()), "more problems follow; only the first found are listed");
}

}  // namespace
}  // namespace brink::conf
