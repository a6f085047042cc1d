// A request and a response as the rules of a shared cache look at them. Views: they live as long as the heads they
// show.
#pragma once

#include <string_view>

#include "cache/http/fields.hpp"

namespace brink::cache::http {

struct Request {
  std::string_view method;  // as sent; methods are case-sensitive
  std::string_view url;     // of normal_url() in url.hpp
  Fields fields;
};

struct Response {
  unsigned status = 0;
  Fields fields;
  WallTime request_time{};   // when the request for it was sent
  WallTime response_time{};  // when its head was received
};

}  // namespace brink::cache::http
