#include "proxy/net/loop.hpp"

#include <ctime>

namespace brink::net {

const std::string& Loop::http_date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[64];
    date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc));
  }
  return date_;
}

}  // namespace brink::net
