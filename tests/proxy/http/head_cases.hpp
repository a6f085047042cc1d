// One row a rule: the bytes, and what the parser must say to them. Shared by the request and the response tests.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"

namespace brink::http {

struct HeadCase {
  const char* name;     // the test's name: letters, digits and _
  const char* section;  // where the rule stands; RFC 9112 unless said otherwise
  std::string_view bytes;
  HeadError error;
};

inline void PrintTo(const HeadCase& row, std::ostream* out) { *out << row.name << " (" << row.section << ")"; }

inline std::string case_name(const testing::TestParamInfo<HeadCase>& info) { return info.param.name; }

}  // namespace brink::http
