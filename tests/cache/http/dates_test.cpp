#include "cache/http/dates.hpp"

#include <gtest/gtest.h>

#include "tests/cache/http/text.hpp"

namespace brink::cache::http {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

TEST(Dates, AllThreeFormatsAreRead) {
  const DateTime expected = sys_days(year(1994) / 11 / 6) + 8h + 49min + 37s;
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", noon), expected);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", noon), expected);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", noon), expected);
  EXPECT_EQ(parse_date("sUN, 06 nOV 1994 08:49:37 gmt", noon), expected);
}

TEST(Dates, TwoDigitsMeanAYearNotMoreThanFiftyAhead) {
  EXPECT_EQ(parse_date("Thursday, 18-Aug-50 00:00:00 GMT", noon), DateTime(sys_days(year(2050) / 8 / 18)));
  EXPECT_EQ(parse_date("Thursday, 18-Aug-76 00:00:00 GMT", noon), DateTime(sys_days(year(2076) / 8 / 18)));
  EXPECT_EQ(parse_date("Thursday, 18-Aug-77 00:00:00 GMT", noon), DateTime(sys_days(year(1977) / 8 / 18)));
}

TEST(Dates, FarDatesDoNotOverflow) {
  EXPECT_EQ(parse_date("Sun, 21 Nov 2286 04:46:39 GMT", noon), DateTime(10000039599s));
}

TEST(Dates, AnythingElseIsNoDate) {
  for (const char* bad :
       {"", "0", "-1", "foo", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
        "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
        "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT",
        "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT",
        "Thu, 18 Aug 2050 02:60:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT, Thu", "Thu, 00 Aug 2050 02:01:18 GMT"}) {
    EXPECT_EQ(parse_date(bad, noon), std::nullopt) << bad;
  }
}

TEST(Dates, WhatIsWrittenIsReadBack) {
  EXPECT_EQ(format_date(noon + 999ms), "Tue, 01 Dec 2026 12:00:00 GMT");
  for (Duration step{}; step < 24h * 800; step += 31h + 7min + 3s) {
    EXPECT_EQ(parse_date(format_date(noon + step), noon), std::chrono::floor<std::chrono::seconds>(noon + step));
  }
}

}  // namespace
}  // namespace brink::cache::http
