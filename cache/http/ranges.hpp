// Parts of a stored response: RFC 9110 section 14. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "cache/http/messages.hpp"

namespace brink::cache::http {

struct Part {
  enum class Kind : std::uint8_t { whole, partial, unsatisfiable };  // 200, 206, 416
  Kind kind = Kind::whole;
  std::uint64_t first = 0, last = 0;  // of `partial`: bytes of the body, both included; last < length
};

// What of a stored 200 the request asks for. One range of bytes makes a part. Several ranges, other units, a field that
// breaks the grammar and an If-Range that does not hold make the whole, as the RFC allows. To be asked after
// is_not_modified() (section 13.2.2). `length`: of the body that would be sent.
Part requested_part(const Request& request, const Entry& entry, std::uint64_t length, WallTime now);

// The value of Content-Range for 206 and 416.
std::string content_range(const Part& part, std::uint64_t length);

}  // namespace brink::cache::http
